"""How is one HTTP request sent whose answer is only a yes or a no?

Bounded in time, no redirect followed, the answer's body never read. What is said of a failure names neither
address nor header: both may hold a secret.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import aiohttp

from routecanary import __version__
from routecanary.domain.secret import Secret
from routecanary.errors import DeliveryError

USER_AGENT: Final = f"routecanary/{__version__}"


async def send(
    method: str,
    url: Secret,
    *,
    within: timedelta,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    proxy_from_environment: bool = False,
) -> None:
    """Send a request and see it accepted with a 2xx.

    Raises:
        DeliveryError: It was not.
    """
    try:
        async with (
            asyncio.timeout(within.total_seconds()),
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": USER_AGENT},
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=proxy_from_environment,
            ) as session,
            session.request(
                method, url.reveal(), data=body, headers=headers, allow_redirects=False
            ) as response,
        ):
            status = response.status
            response.close()  # its body says nothing that we need, and may have no end
    except TimeoutError:
        raise DeliveryError("no answer in time") from None
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
        raise DeliveryError("its certificate is not trusted") from None
    except aiohttp.ClientConnectorDNSError:
        raise DeliveryError("no connection: its name is not known") from None
    except aiohttp.ClientConnectorError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise DeliveryError(f"no connection: {reason}") from None
    except aiohttp.ServerDisconnectedError:
        raise DeliveryError("closed without an answer") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise DeliveryError(f"no usable answer: {type(error).__name__}") from None
    if 300 <= status < 400:
        raise DeliveryError(f"answered {status}: redirects are not followed")
    if not 200 <= status < 300:
        raise DeliveryError(f"answered {status}")
