from collections.abc import Iterator

import pytest

from tests.config import plain as plain_account


@pytest.fixture(scope="session")
def plain() -> Iterator[plain_account.Plain]:
    """An account without rights; the test is skipped, with the reason, where we cannot be one."""
    with plain_account.account() as found:
        yield found
