"""Earned cases of payments, orders, pipelines, messages and backups: the recorded ones, and twins by other tools."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.triage.rules import cases

Case = dict[str, Any]

HYPOTHESES = (
    "refund_completed", "order_cancelled_correctly", "superseded_payment_attempt", "pipeline_run_succeeded",
    "message_delivered", "backup_present",
)  # fmt: skip


def call(case: Case, ref: str, tool: str, args: Case, result: Any, minute: int = 0) -> Case:
    """A further recorded call of the case, as late as its last one and some minutes."""
    meta = copy.deepcopy(case["audit"][-1]["meta"])
    meta["called_at"] = meta["called_at"][:14] + f"{int(meta['called_at'][14:16]) + minute:02}" + meta["called_at"][16:]
    entry = {"id": ref, "tool": tool, "args": args, "result": result, "meta": meta}
    case["audit"].append(entry)
    return entry


def stripe_list(*data: Case, kind: str = "list", **more: Any) -> Case:
    return {"object": kind, "url": "/v1/things", "has_more": False, "data": list(data), **more}


def charge(ref: str, amount: int = 2300, **changes: Any) -> Case:
    """A charge of order PTX-A1 that was taken and given back."""
    return {
        "id": ref, "object": "charge", "amount": amount, "amount_captured": amount, "amount_refunded": amount,
        "refunded": True, "captured": True, "paid": True, "disputed": False, "currency": "eur",
        "metadata": {"order": "PTX-A1"}, **changes,
    }  # fmt: skip


def refund(ref: str, of: str, amount: int = 2300, **changes: Any) -> Case:
    return {
        "id": ref, "object": "refund", "amount": amount, "currency": "eur", "charge": of, "status": "succeeded",
        "failure_reason": None, "created": 1480406400, **changes,
    }  # fmt: skip


def duplicate() -> Case:
    return cases.recorded("double_charge_duplicate_refunded")


def named_refund() -> Case:
    return cases.recorded("refund_of_the_right_refund_id")


def named_refund_in_a_list() -> Case:
    case = named_refund()
    one = cases.entry(case, "a1")
    first = one["result"]
    other = {**first, "id": "re_second"}
    one |= {"tool": "stripe_list_refunds", "args": {"charge": "ch_wc"}, "result": stripe_list(other, first)}
    cases.entry(case, "a2")["result"] |= {"amount_refunded": 3000, "refunded": True}
    return case


def charge_in_a_search() -> Case:
    case = duplicate()
    two = cases.entry(case, "a2")
    query = {"query": 'metadata["order"]:"PTX-A1"', "limit": 100}
    found = stripe_list(charge("ch_other", amount_refunded=0, refunded=False), two["result"], kind="search_result",
                        next_page=None, total_count=2)  # fmt: skip
    two |= {"tool": "stripe_list_charges", "args": query, "result": found}
    return case


def unnamed_refund_by_its_id() -> Case:
    case = duplicate()
    one = cases.entry(case, "a1")
    one |= {"tool": "stripe_get_refund", "args": {"id": "re_1"}, "result": one["result"]["data"][0]}
    return case


def as_stripe_writes_it() -> Case:
    """Whole objects: no `failure_reason` in a refund that did not fail, ids expanded, a status beside the flags."""
    case = named_refund()
    one, two = cases.entry(case, "a1"), cases.entry(case, "a2")
    del one["result"]["failure_reason"]
    one["args"] = {"refund": "re_first", "expand": ["charge"]}
    one["result"] |= {"balance_transaction": "txn_1", "metadata": {}, "reason": None, "receipt_number": None,
                      "payment_intent": "pi_1", "charge": {"id": "ch_wc", "object": "charge"}}  # fmt: skip
    two["result"] |= {"status": "succeeded", "balance_transaction": "txn_0", "payment_intent": "pi_1"}
    return case


def refunds_of_an_intent() -> Case:
    case = duplicate()
    case["incident"]["subject"]["payment_intent"] = "pi_1"
    cases.entry(case, "a1")["args"] = {"payment_intent": "pi_1", "charge_id": "ch_dup", "limit": 10}
    return case


def shop_tools() -> Case:
    case = duplicate()
    case["incident"]["subject"] = {"charge_id": "ch_dup", "refund_id": "re_1"}
    case["incident"]["facts"] = {"amount_cents": 2300, "currency": "eur"}
    row = {"refund_id": "re_1", "charge_id": "ch_dup", "amount_cents": 2300, "currency": "eur", "status": "succeeded",
           "failure_reason": None}  # fmt: skip
    cases.entry(case, "a1").update(
        tool="list_refunds", args={"charge_id": "ch_dup"},
        result={"charge_id": "ch_dup", "refunds": [row], "total": 1},
    )  # fmt: skip
    about = {"charge_id": "ch_dup", "amount_cents": 2300, "currency": "eur", "captured": True, "disputed": False}
    cases.entry(case, "a2").update(tool="get_charge", args={"charge_id": "ch_dup"}, result={"charge": about})
    return case


def canceled_order() -> Case:
    """Both charges of the order are given back, each by its own list of refunds."""
    case = cases.recorded("order_cancelled_though_still_paid")
    one = cases.entry(case, "a1")
    one["args"]["limit"] = 100
    one["result"] = stripe_list(charge("ch_dup"), charge("ch_first", 4600))
    call(case, "a3", "stripe_list_refunds", {"charge": "ch_dup", "limit": 100}, stripe_list(refund("re_1", "ch_dup")))
    call(case, "a4", "stripe_list_refunds", {"charge_id": "ch_first"}, stripe_list(refund("re_2", "ch_first", 4600)))
    facts = [("no_captured_charge_left", "a1"), ("order_refunded_in_full", "a3"), ("order_refunded_in_full", "a4")]
    case["findings"] = [{"fact": fact, "audit_id": ref} for fact, ref in facts]
    return case


def canceled_order_in_one_list() -> Case:
    """One list of refunds by the order's note, in parts, one of them failed and made again; and a failed attempt."""
    case = canceled_order()
    case["incident"]["subject"]["amount"] = 2300
    failed = charge("ch_try", amount_captured=0, amount_refunded=0, refunded=False, captured=False, paid=False)
    one = cases.entry(case, "a1")
    one["args"], one["result"] = {"metadata": {"order": "PTX-A1"}}, stripe_list(failed, charge("ch_dup"))
    parts = [
        refund("re_1", "ch_dup", 1300, status="failed", failure_reason="unknown"), refund("re_2", "ch_dup", 1300),
        refund("re_3", "ch_dup", 1000), refund("re_4", "ch_dup", 50, status="canceled"),
    ]  # fmt: skip
    three = cases.entry(case, "a3")
    three["args"], three["result"] = {"query": "metadata['order']:'PTX-A1'"}, stripe_list(*parts, kind="search_result")
    case["findings"] = case["findings"][:2]
    case["audit"] = case["audit"][:3]
    return case


def canceled_order_by_intents() -> Case:
    """One list of refunds by the intent that the claim names."""
    case = canceled_order_in_one_list()
    case["incident"]["subject"]["payment_intent"] = "pi_1"
    cases.entry(case, "a3")["args"] = {"payment_intent": "pi_1", "limit": 50}
    return case


def superseded() -> Case:
    return cases.recorded("failed_attempt_superseded_by_paid_one")


def superseded_for_some_amount() -> Case:
    """A claim that does not say how much it is about."""
    case = superseded()
    del case["incident"]["subject"]["amount"], case["incident"]["subject"]["currency"]
    return case


def superseded_otherwise() -> Case:
    """Three attempts in another order, found by an argument; the order by its own id, through a parameter."""
    case = superseded()
    one, two = cases.entry(case, "a1"), cases.entry(case, "a2")
    paid, failed = one["result"]["data"]
    early = {**failed, "id": "pi_0", "created": 1627549000, "status": "canceled"}
    one["args"], one["result"] = {"cart": "c-79"}, stripe_list(failed, paid, early)
    two["args"] = {
        "sql": "SELECT * FROM public.orders o WHERE o.order_id = $1 LIMIT 5;",
        "params": ["o-79"],
        "limit": 100,
    }
    return case


def pipeline() -> Case:
    return cases.recorded("airflow_all_tasks_succeeded")


def pipeline_as_airflow_writes_it() -> Case:
    """Tasks that say whose they are, one of them mapped twice; the run under its other name; a page with room."""
    case = pipeline()
    subject = case["incident"]["subject"]
    subject["task_id"] = "middle"
    for ref in ("a1", "a2"):
        args = cases.entry(case, ref)["args"]
        args["run_id"] = args.pop("dag_run_id")
    two = cases.entry(case, "a2")
    two["args"] |= {"limit": 100, "offset": 0, "order_by": "task_id"}
    own = {"dag_id": subject["dag_id"], "dag_run_id": subject["dag_run_id"]}
    tasks = [{**task, **own, "map_index": -1} for task in two["result"]["task_instances"]]
    tasks[1]["map_index"] = 0
    two["result"] = {
        "task_instances": [*tasks, {**tasks[1], "map_index": 1}], "total_entries": 4, "next_cursor": None
    }  # fmt: skip
    return case


def message() -> Case:
    return cases.recorded("pending_mail_retried_and_delivered")


def message_otherwise() -> Case:
    """All columns by the recipient; a count without a time, of the recipient's bounces of the message alone."""
    case = message()
    one, two = cases.entry(case, "a1"), cases.entry(case, "a2")
    one["args"]["sql"] = (
        "select * from message_recipients where 'm-445' = message_id and recipient = 'person-a@example.org' order by id"
    )
    one["result"]["rows"][0] |= {"id": 7, "delivered_at": "2026-01-14 10:06:00+01"}
    two["args"] = {
        "query": "select count(1) as n from bounces b where b.message_id = $1",
        "params": ["m-445"],
        "limit": 1,
    }
    two["result"] = {"rows": [{"n": 0}], "row_count": 1, "limit": 1}
    return case


def message_to_several() -> Case:
    case = message()
    rows = cases.entry(case, "a1")["result"]
    rows["rows"].insert(0, {"message_id": "m-445", "recipient": "person-b@example.org", "delivery_status": "failed",
                            "delivered_at": None})  # fmt: skip
    rows["row_count"] = 2
    return case


def snapshot() -> Case:
    return cases.recorded("lvm_snapshot_present_and_loaded")


def snapshot_among_volumes() -> Case:
    """Volumes that are no snapshots, an older snapshot, LVM's attributes; a restored copy whose rows were counted."""
    case = snapshot()
    case["incident"]["subject"]["volume"] = "pgdata"
    one, two = cases.entry(case, "a1"), cases.entry(case, "a2")
    newest = one["result"]["report"][0]["lv"][0] | {"lv_attr": "swi-a-s---", "lv_size": "<310.20g"}
    older = {**newest, "lv_name": "pgdata-snap-0", "lv_time": "2017-01-30 17:20:00 +0000"}
    volume = {**newest, "lv_name": "pgdata", "origin": "", "lv_attr": "owi-aos---"}
    other = {**newest, "lv_name": "root-snap", "origin": "root"}
    one["args"] = {"host": "db1.cluster", "options": ["lv_name", "lv_size"], "units": "g", "reportformat": "json"}
    one["result"]["report"][0]["lv"] = [volume, other, newest, older]
    two["args"] = {"hostname": "restore-7", "database": "production", "sql": "select count(*) from projects"}
    two["result"]["rows"] = [{"count": 1700000}]
    return case


def stored_object() -> Case:
    """A dump in a bucket in the place of a snapshot."""
    case = snapshot()
    case["incident"]["subject"] |= {"bucket": "pg-backups", "prefix": "production/"}
    dumps = [
        {"Key": "production/0130.dump", "Size": 0, "LastModified": "2017-01-30T02:00:00.000Z"},
        {"Key": "production/0131.dump", "Size": 310_000_000_000, "LastModified": "2017-01-31T18:00:00.000Z"},
    ]  # fmt: skip
    cases.entry(case, "a1").update(
        tool="s3_list_objects_v2", args={"Bucket": "pg-backups", "Prefix": "production/", "MaxKeys": 1000},
        result={"Name": "pg-backups", "Prefix": "production/", "IsTruncated": False, "KeyCount": 2, "MaxKeys": 1000,
                "Contents": dumps},
    )  # fmt: skip
    return case


EARNED: dict[str, Callable[[], Case]] = {
    make.__name__: make
    for make in (
        duplicate, named_refund, named_refund_in_a_list, charge_in_a_search, unnamed_refund_by_its_id,
        as_stripe_writes_it, refunds_of_an_intent, shop_tools, canceled_order, canceled_order_in_one_list,
        canceled_order_by_intents, superseded, superseded_for_some_amount,
        superseded_otherwise, pipeline, pipeline_as_airflow_writes_it, message, message_otherwise, message_to_several,
        snapshot, snapshot_among_volumes, stored_object,
    )
}  # fmt: skip
