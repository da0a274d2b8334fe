"""One settings file for every process. What differs between processes comes from the environment."""

import secrets
import sys
from pathlib import Path

from celery.schedules import schedule
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from gate.config import database, environment, logs, oidc, smtp

BASE_DIR = environment.BASE_DIR
PROCESS = database.process_of(sys.argv)

DEBUG = environment.text("COUNTERSEAL_DEBUG", "0") == "1"
# Where people open the dashboard. It decides allowed hosts, secure cookies and HSTS.
ORIGIN = environment.text("COUNTERSEAL_ORIGIN", "http://localhost:8000")
AGENTS_ORIGIN = environment.text("COUNTERSEAL_AGENTS_ORIGIN", "http://localhost:8001")
if DEBUG and ORIGIN.startswith("https://"):
    raise ImproperlyConfigured("COUNTERSEAL_DEBUG shows the code to strangers; unset it where the origin is https.")
# Who may read /metrics; without it there is no such page.
METRICS_TOKEN = environment.text("COUNTERSEAL_METRICS_TOKEN", "")
ALLOWED_HOSTS = environment.words("COUNTERSEAL_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = [ORIGIN]
# Without a configured key each process draws its own; `serve people` refuses to start so, for sessions would break.
SECRET_KEY_CONFIGURED = environment.text("COUNTERSEAL_SECRET_KEY", database.stored_secret("secret_key"))
SECRET_KEY = SECRET_KEY_CONFIGURED or secrets.token_urlsafe(48)

# The sealer's signing key; the next one stands beside it while keys are changed. Public keys are for who verifies.
SEAL_KEYS = [environment.secret("COUNTERSEAL_SEAL_KEY"), environment.secret("COUNTERSEAL_NEXT_SEAL_KEY")]
LOG_PUBLIC_KEYS = environment.words("COUNTERSEAL_LOG_PUBLIC_KEYS")
# Where checkpoints are sent, so that nobody inside can take them back. The witness's key may be the name of its file.
CHECKPOINT_FILE = environment.text("COUNTERSEAL_CHECKPOINT_FILE", "")
CHECKPOINT_WEBHOOK = environment.text("COUNTERSEAL_CHECKPOINT_WEBHOOK", "")
WITNESS_URL = environment.text("COUNTERSEAL_WITNESS_URL", "")
WITNESS_KEY = environment.text("COUNTERSEAL_WITNESS_KEY", "")
# How many months of the log are kept at least after their end; 0 keeps everything. `retain_log` drops, nothing else.
RETENTION_MONTHS = environment.number("COUNTERSEAL_RETENTION_MONTHS", 0)

# Folders of recorded cases that rules are tried on, besides those that were made of incidents here.
CASES = [folder for folder in environment.text("COUNTERSEAL_CASES", "").split(":") if folder]

# Folders with rules of our own beside the shipped ones, `<hypothesis>/v<n>.py`, each with its own readers.
VERDICT_RULES = [Path(name) for name in environment.text("COUNTERSEAL_VERDICT_RULES", "").split(":") if name]

# How much of people's attention writes may take: proposals of one proposer and approvals by one person in an hour, and
# how long a write's page is looked at before it can be approved, in seconds.
PROPOSALS_PER_HOUR = environment.number("COUNTERSEAL_PROPOSALS_PER_HOUR", 30)
APPROVALS_PER_HOUR = environment.number("COUNTERSEAL_APPROVALS_PER_HOUR", 20)
VIEWING_SECONDS = {
    "normal": environment.number("COUNTERSEAL_VIEWING_SECONDS", 3),
    "high": environment.number("COUNTERSEAL_HIGH_RISK_VIEWING_SECONDS", 20),
}

# What the writer asks for in addition to a target's policy, by the credential that it would write with: approvals by
# passkey alone, and of at least so many people, as in SHOP_WRITER_DSN:2.
WRITE_FLOOR = environment.counts("COUNTERSEAL_WRITE_FLOOR")
# The model that answers what a policy asks; without one such a question is missing, and a person decides. Only the
# answering worker is told: see gate.admission.answering.endpoint.
ANSWERING_KIND = environment.text("COUNTERSEAL_ANSWERING_KIND", "openai")
ANSWERING_URL = environment.text("COUNTERSEAL_ANSWERING_URL", "")
ANSWERING_MODEL = environment.text("COUNTERSEAL_ANSWERING_MODEL", "")
ANSWERING_KEY = environment.secret("COUNTERSEAL_ANSWERING_KEY")
ANSWERING_PROXY = environment.text("COUNTERSEAL_ANSWERING_PROXY", "")

# A file of bad proposals that people are to turn down, and how many of them come in a week; none unless told.
CANARIES = environment.text("COUNTERSEAL_CANARIES", "")
CANARIES_A_WEEK = environment.number("COUNTERSEAL_CANARIES_A_WEEK", 0)
if CANARIES_A_WEEK > 168 or (CANARIES_A_WEEK and not CANARIES):
    raise ImproperlyConfigured("COUNTERSEAL_CANARIES_A_WEEK is 168 at most, and COUNTERSEAL_CANARIES names their file.")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "audit",
    "evidence",
    "gate.config",
    "gate.people",
    "gate.triage",
    "gate.admission",
    "gate.writes",
    "gate.demo",
]
AUTH_USER_MODEL = "people.Person"
AUTHENTICATION_BACKENDS = ["gate.people.backends.RoleBackend"]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/inbox/"

BASE_MIDDLEWARE = ["django.middleware.security.SecurityMiddleware"]
PEOPLE_MIDDLEWARE = [
    *BASE_MIDDLEWARE,
    "servestatic.middleware.ServeStaticMiddleware",
    # Outside of what may fail: a page that says so has their headers, too.
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "gate.people.key_middleware.KeyPolicyMiddleware",
    "gate.config.refused.CharsetMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "gate.people.middleware.SignedInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "gate.people.middleware.VisitMiddleware",
    "gate.people.middleware.TimeZoneMiddleware",
    "gate.people.middleware.UndisguisedMiddleware",
    "gate.config.methods.MethodMiddleware",
]
# The agents' plane knows tokens alone: a cookie that reaches its port means nothing there.
AGENTS_MIDDLEWARE = [
    *BASE_MIDDLEWARE,
    "django.middleware.common.CommonMiddleware",
    "gate.config.methods.MethodMiddleware",
]
IS_AGENTS_PLANE = PROCESS == "agents"
MIDDLEWARE = AGENTS_MIDDLEWARE if IS_AGENTS_PLANE else PEOPLE_MIDDLEWARE
ROOT_URLCONF = "gate.config.urls_agents" if IS_AGENTS_PLANE else "gate.config.urls_people"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "gate.config.context.shell",
            ],
            "builtins": ["audit.templatetags.ui"],
        },
    }
]

DATABASES = {"default": database.configuration()}
# Whose disk is looked at when the database fails.
DATABASE_PLACE = database.place()

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = environment.var_dir() / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
SERVESTATIC_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "servestatic.storage.CompressedManifestStaticFilesStorage"},
}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

IS_HTTPS = ORIGIN.startswith("https://")
SESSION_COOKIE_NAME = "counterseal_session"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "counterseal_csrf"
CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "gate.config.refused.form_expired"
SECURE_SSL_REDIRECT = False  # the proxy in front answers plain HTTP; the app itself never sees it
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = IS_HTTPS
SECURE_HSTS_PRELOAD = IS_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
X_FRAME_OPTIONS = "DENY"
SILENCED_SYSTEM_CHECKS = ["security.W008"]
if IS_AGENTS_PLANE:
    # No page to frame and no cookie to ride on: tokens alone.
    SILENCED_SYSTEM_CHECKS += ["security.W002", "security.W003"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["evidence.authentication.AgentTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["evidence.exact_json.ExactJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "evidence.problems.handle",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Counterseal agents' API",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "gate.config.openapi.require_bodies",
        "gate.config.openapi.say_what_is_next",
    ],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
}

# Only where people sign in: whoever knows their passwords can write in our name, or say who somebody is.
MAIL = smtp.configured() if PROCESS == "people" else None
OIDC = oidc.configured() if PROCESS == "people" else None
if OIDC:
    INSTALLED_APPS += oidc.APPS
    PEOPLE_MIDDLEWARE += oidc.MIDDLEWARE
    MIGRATION_MODULES = oidc.NO_TABLES
    SOCIALACCOUNT_ADAPTER = "gate.people.provider.Adapter"
    SOCIALACCOUNT_REQUESTS_TIMEOUT = 5
    SOCIALACCOUNT_UID_MAX_LENGTH = 255
    ACCOUNT_EMAIL_VERIFICATION = "none"

# Celery. The broker may lose everything: the outbox is the truth, and tasks are safe to run twice.
CELERY_BROKER_URL = database.broker_url(PROCESS)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_TIME_LIMIT = 60
CELERY_TASK_QUEUES = [Queue(name) for name in ("verdicts", "trials", "reads", "answers", "writes")]
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 3
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 120,  # above the time limit: a task is never handed out while it runs
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    "socket_timeout": 2,
}
# Nothing is due less often than every hour, and `upgrade` makes partitions too: beat keeps no file of what it did.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
CELERY_BEAT_SCHEDULE = {
    "certify-sources": {
        "task": "evidence.tasks.certify_all",
        "schedule": schedule(120),
        "options": {"queue": "reads", "expires": 100},
    },
    "watch-agents": {
        "task": "evidence.tasks.watch_agents",
        "schedule": schedule(15),
        "options": {"queue": "verdicts", "expires": 14},
    },
    "ensure-partitions": {
        "task": "audit.tasks.ensure_partitions",
        "schedule": schedule(3600),
        "options": {"queue": "verdicts", "expires": 600},
    },
    "follow-log": {
        "task": "audit.tasks.follow_log",
        "schedule": schedule(3),
        "options": {"queue": "verdicts", "expires": 3},
    },
    "expire-writes": {
        "task": "gate.writes.tasks.expire_writes",
        "schedule": schedule(30),
        "options": {"queue": "writes", "expires": 25},
    },
    "admit-again": {
        "task": "gate.writes.tasks.admit_again",
        "schedule": schedule(10),
        "options": {"queue": "reads", "expires": 10},
    },
    "plan-canary": {
        "task": "gate.writes.tasks.plan_canary",
        "schedule": schedule(3600),
        "options": {"queue": "verdicts", "expires": 600},
    },
    "clear-pruned-traces": {
        "task": "gate.triage.tasks.clear_pruned_traces",
        "schedule": schedule(3600),
        "options": {"queue": "trials", "expires": 600},
    },
    "note-seals": {
        "task": "gate.triage.tasks.note_seals",
        "schedule": schedule(5),
        "options": {"queue": "verdicts", "expires": 4},
    },
    "abandon-investigations": {
        "task": "gate.triage.tasks.abandon_overdue",
        "schedule": schedule(30),
        "options": {"queue": "verdicts", "expires": 25},
    },
}

LOG_FORMAT = logs.chosen_format()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": logs.FORMATTERS[LOG_FORMAT]}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    # Django's own handlers would say its lines a second time, in another form.
    "loggers": {
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "propagate": True},
        # Each read that fails would warn of what it had sent besides; the failure itself is an entry.
        "psycopg": {"level": "ERROR"},
        "psycopg.pool": {"level": "WARNING"},
    },
}
