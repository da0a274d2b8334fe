"""Tests on whether an answer of kubectl was asked for the incident's object, and holds that very object."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.readers import incident as said
from gate.triage.readers.document import Document, Step
from gate.triage.readers.kube_args import KNOWN
from gate.triage.readers.kube_objects import Kind, KubeObject
from gate.triage.rules import subjects
from gate.triage.rules.language import Case, Judgment, equal

# Labels that by convention bear the name of the thing itself.
NAME_LABELS = ("app", "app.kubernetes.io/name", "k8s-app", "job-name", "batch.kubernetes.io/job-name",
               "kubernetes.io/hostname")  # fmt: skip


@dataclass(frozen=True)
class Named:
    """How a subject names an object of one kind, and what else it may say without making it another object."""

    kind: Kind
    keys: tuple[str, ...]  # subject keys that hold the name
    besides: tuple[str, ...]  # parts of the object, which it answers for as a whole

    def name(self, case: Case) -> str:
        """The name of the incident's object. Raises Unreadable where the subject does not say it exactly once."""
        key = subjects.the_only(self._names(case), said.subject_keys(case.incident), "the name in the subject")
        if key == "name":
            Document(dict(case.incident.subject)).one_of(self.kind.asked_as, "kind")
        return said.subject_text(case.incident, key)

    def _names(self, case: Case) -> tuple[str, ...]:
        """A `name` names the object where the subject says its `kind` too."""
        return (*self.keys, "name") if said.subject_has(case.incident, "kind") else self.keys

    def namespace(self, case: Case) -> str | None:
        """Its namespace; None for what lies in none."""
        return said.subject_text(case.incident, "namespace") if self.kind.is_namespaced is True else None

    def place(self, answer: KubeObject, case: Case) -> tuple[Step, ...]:
        """Where the incident's object stands in the answer. Raises Unreadable."""
        return answer.place(self.namespace(case), self.name(case))

    def asked(self, answer: KubeObject, case: Case) -> Judgment:
        """Kind, namespace and name are the subject's, and nothing was asked that could give another object."""
        for test in (self._asked_kind, self._asked_namespace, self._asked_name, self._asked_nothing_else):
            judgment = test(answer, case)
            if judgment.holds is not True:
                return judgment
        compared = frozenset((*self._names(case), *self.besides, "namespace", "kind", "uid"))
        return subjects.nothing_left_out(answer, case, compared)

    def answered(self, answer: KubeObject, case: Case) -> Judgment:
        """The object in the answer bears the kind, name, namespace and, where the subject says one, uid."""
        fits = self._fits_the_question(answer)
        if fits.holds is not True:
            return fits
        place, name, namespace = self.place(answer, case), self.name(case), self.namespace(case)
        answer.api_version(place)
        if answer.object_kind(place) != self.kind.name:
            return Judgment(False, answer.object_kind(place), f"the answer holds no {self.kind.name}.")
        if answer.name(place) != name:
            return Judgment(False, answer.name(place), f"it is another {self.kind.name} than `{name}`.")
        if namespace is not None and answer.namespace(place) != namespace:
            return Judgment(False, answer.namespace(place), f"it lies in another namespace than `{namespace}`.")
        if answer.is_being_deleted(place):
            return Judgment(False, "being deleted", f"the {self.kind.name} is being deleted.")
        return self._has_the_uid(answer, place, case)

    def _fits_the_question(self, answer: KubeObject) -> Judgment:
        """A whole list, or the one object that was asked for by its name."""
        answer.complete()
        if answer.is_list():
            answer.asked.check_limit(answer.result.length("items"))
            return Judgment(True, "a list", "")
        is_both = answer.asked.kind() not in frozenset(self.kind.asked_as)  # job/nightly-export
        is_named = (answer.asked.has_name(), answer.asked.has_fields(), is_both)
        return Judgment(is_named.count(True) > 0, "no name", "one object was given, and none was asked for by name.")

    def _has_the_uid(self, answer: KubeObject, place: tuple[Step, ...], case: Case) -> Judgment:
        if not said.subject_has(case.incident, "uid"):
            return Judgment(True, answer.name(place), "")
        uid = said.subject_text(case.incident, "uid")
        return equal(answer.uid(place), uid, "it is another object of the same name.")

    def _asked_kind(self, answer: KubeObject, case: Case) -> Judgment:
        asked, name = answer.asked.kind(), self.name(case)
        if asked in frozenset(self.kind.asked_as):
            return Judgment(True, asked, "")
        is_both = asked in frozenset(f"{kind}/{name}" for kind in self.kind.asked_as)
        return Judgment(is_both, asked, f"it was not asked for a {self.kind.name} `{name}`.")

    def _asked_namespace(self, answer: KubeObject, case: Case) -> Judgment:
        namespace, is_asked = self.namespace(case), answer.asked.has_namespace()
        if namespace is None:
            return Judgment(is_asked is False, "a namespace", f"a {self.kind.name} lies in no namespace.")
        if is_asked is True:
            wanted = f"it was asked in another namespace than `{namespace}`."
            return equal(answer.asked.namespace(), namespace, wanted)
        # kubectl_find_resource looks in all of them; kubectl_get takes whichever is set as the default.
        is_everywhere = answer.asked.is_everywhere() is True
        if answer.call.tool == "kubectl_find_resource":
            is_everywhere = True
        return Judgment(is_everywhere, "no namespace", f"it was not asked in the namespace `{namespace}`.")

    def _asked_name(self, answer: KubeObject, case: Case) -> Judgment:
        name, asked = self.name(case), answer.asked
        other = f"it was asked for another one than `{name}`."
        if asked.has_name() and asked.name() != name and not asked.is_part_of(name):
            return Judgment(False, asked.name(), other)
        if asked.has_fields() and asked.fields() not in frozenset(self._fields(case)):
            return Judgment(False, asked.fields(), "its field selector is not the name of the subject.")
        if asked.has_labels() and asked.labels() not in frozenset(f"{label}={name}" for label in NAME_LABELS):
            return Judgment(False, asked.labels(), "its label selector is not the name of the subject.")
        return Judgment(True, name, "")

    def _fields(self, case: Case) -> tuple[str, ...]:
        name, namespace = self.name(case), self.namespace(case)
        both = f"metadata.name={name},metadata.namespace={namespace}"
        turned = f"metadata.namespace={namespace},metadata.name={name}"
        return (f"metadata.name={name}", f"metadata.name=={name}", both, turned)

    def _asked_nothing_else(self, answer: KubeObject, case: Case) -> Judgment:
        answer.asked.check_output()
        answer.asked.check_version(self.kind.api_versions)
        return subjects.nothing_else_asked(answer, case, KNOWN)
