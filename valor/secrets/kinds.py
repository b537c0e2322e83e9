"""Secrets that show what they are: the formats in which vendors issue keys and tokens.

Each format has an anchor, a literal piece that is part of every match. Looking for the
anchors is all that an ordinary text costs; a pattern is compiled when one of its anchors
turns up. Lengths are the shortest ones issued, with slack: a token that lost its tail
is still a secret told.

Source: the vendors' pages on their token formats, as collected by public secret scanners
(GitHub secret scanning, gitleaks, detect-secrets).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from valor.secrets.lazy import pattern

Span = tuple[str, int, int]
Row = tuple[str, str]

_ALNUM = "A-Za-z0-9"
_WORD = "A-Za-z0-9_"
_URL64 = "A-Za-z0-9_-"
_B64 = "A-Za-z0-9+/="
_ANY64 = "A-Za-z0-9+/=_-"
_HEX = "0-9a-fA-F"

# kind: (alphabet after the prefix, least length after the prefix, prefixes)
PREFIXED: tuple[tuple[str, str, int, str], ...] = (
    ("aws-access-key", "A-Z0-9", 16, "AKIA ASIA ABIA ACCA"),
    ("aws-bedrock-key", _B64, 60, "ABSK"),
    ("aws-session-token", _B64, 40, "IQoJb3JpZ2lu FwoGZXIvYXdz"),
    ("gcp-api-key", _URL64, 32, "AIza"),
    ("gcp-oauth", _URL64, 20, "GOCSPX- ya29."),
    ("gcp-refresh-token", _URL64, 30, "1//0"),
    ("alibaba-key", _ALNUM, 16, "LTAI"),
    ("tencent-key", _ALNUM, 32, "AKID"),
    ("digitalocean-token", _HEX, 40, "dop_v1_ doo_v1_ dor_v1_"),
    ("heroku-key", _URL64, 30, "HRKU-"),
    ("fly-token", _ANY64, 40, "fo1_ fm1r_ fm1a_ fm2_"),
    ("cloudflare-key", _ALNUM, 40, "cfut_ cfat_ cfk_"),
    ("vault-token", _URL64, 20, "hvs. hvb. hvr."),
    ("pulumi-token", _HEX, 40, "pul-"),
    ("databricks-token", _HEX, 32, "dapi"),
    ("age-key", "0-9A-Z", 50, "AGE-SECRET-KEY-1"),
    ("github-token", _ALNUM, 30, "ghp_ gho_ ghu_ ghs_ ghr_"),
    ("github-token", _WORD, 30, "github_pat_"),
    (
        "gitlab-token",
        "A-Za-z0-9_=.-",
        18,
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
    ),
    ("bitbucket-token", "A-Za-z0-9+/@_=.-", 24, "ATBB ATCTT3 BBDC-"),
    ("atlassian-token", _ANY64, 40, "ATATT3 ATOATT"),
    ("npm-token", _ALNUM, 30, "npm_"),
    ("pypi-token", _URL64, 30, "pypi-AgE"),
    ("rubygems-token", _HEX, 40, "rubygems_"),
    ("crates-token", _ALNUM, 32, "cio"),
    ("nuget-key", "a-z0-9", 43, "oy2"),
    ("clojars-token", _HEX, 50, "CLOJARS_"),
    ("docker-token", _URL64, 20, "dckr_pat_ dckr_oat_"),
    ("artifactory-key", _ALNUM, 50, "AKCp cmVmd"),
    ("circleci-token", _URL64, 30, "CCIPAT_ CCIPRJ_"),
    ("buildkite-token", _URL64, 30, "bkua_ bkaa_ bkct_"),
    ("sonar-token", _HEX, 40, "squ_ sqp_ sqa_"),
    ("sourcegraph-token", _WORD, 40, "sgp_"),
    (
        "slack-token",
        "A-Za-z0-9%+/.-",
        10,
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp-",
    ),
    ("slack-webhook", "A-Za-z0-9+/_-", 20, "hooks.slack.com/services/ hooks.slack.com/workflows/"),
    ("discord-webhook", "A-Za-z0-9/_-", 40, "discord.com/api/webhooks/ discordapp.com/api/webhooks/"),
    ("teams-webhook", "A-Za-z0-9@/_-", 60, "webhook.office.com/webhookb2/"),
    ("brevo-key", _URL64, 40, "xkeysib- xsmtpsib-"),
    (
        "stripe-key",
        "A-Za-z0-9+/=_",
        10,
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ whsec_",
    ),
    ("square-token", _URL64, 22, "sq0atp- sq0csp- sq0idp-"),
    ("square-token", _URL64, 60, "EAAA"),
    ("shopify-token", _HEX, 30, "shpat_ shpca_ shppa_ shpss_ shpua_"),
    ("braintree-token", "A-Za-z0-9$", 40, "access_token$production$ access_token$sandbox$"),
    ("flutterwave-key", _URL64, 12, "FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-"),
    ("easypost-key", _ALNUM, 50, "EZAK EZTK"),
    ("anthropic-key", _URL64, 20, "sk-ant-"),
    ("openai-key", _URL64, 20, "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1-"),
    ("huggingface-token", _ALNUM, 30, "hf_ api_org_"),
    ("groq-key", _ALNUM, 40, "gsk_"),
    ("replicate-token", _ALNUM, 30, "r8_"),
    ("xai-key", _ALNUM, 60, "xai-"),
    ("perplexity-key", _ALNUM, 40, "pplx-"),
    ("nvidia-key", _URL64, 50, "nvapi-"),
    ("langsmith-key", _WORD, 32, "lsv2_pt_ lsv2_sk_"),
    ("pinecone-key", _WORD, 40, "pcsk_"),
    ("tavily-key", _URL64, 24, "tvly-"),
    ("linear-key", _ALNUM, 32, "lin_api_ lin_oauth_"),
    ("notion-token", _ALNUM, 40, "secret_ ntn_"),
    ("figma-token", _URL64, 35, "figd_ figo_"),
    ("postman-key", "0-9a-f-", 50, "PMAK-"),
    ("contentful-token", _URL64, 40, "CFPAT-"),
    ("facebook-token", _ALNUM, 80, "EAA"),
    ("typeform-token", "A-Za-z0-9_.-", 40, "tfp_"),
    ("grafana-token", _ANY64, 32, "glsa_ glc_"),
    ("newrelic-key", "A-Za-z0-9-", 19, "NRAK- NRII- NRJS-"),
    ("sentry-token", _ANY64, 40, "sntrys_ sntryu_"),
    ("posthog-key", _ALNUM, 32, "phx_"),
    ("tailscale-key", _URL64, 16, "tskey-"),
    ("supabase-key", _URL64, 20, "sb_secret_"),
    ("supabase-key", _HEX, 40, "sbp_"),
    ("planetscale-token", "A-Za-z0-9_.=-", 32, "pscale_tkn_ pscale_pw_ pscale_oauth_"),
    ("netlify-token", _ALNUM, 30, "nfp_"),
    ("vercel-token", _ALNUM, 24, "vcp_ vck_ vercel_blob_rw_"),
    ("readme-key", "a-z0-9", 60, "rdme_"),
    ("prefect-key", _ALNUM, 30, "pnu_"),
    ("onepassword-key", _B64, 60, "ops_eyJ"),
)

_L = rf"(?:(?<![{_ALNUM}])|(?<=\\[nrt]))"  # not inside a longer word, but after an escape such as `\n`
_R = rf"(?![{_ALNUM}])"
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_CRYPT = "[./A-Za-z0-9]"

# (kind, anchors, expression) where a prefix and an alphabet do not tell enough
SHAPED: tuple[tuple[str, str, str], ...] = (
    ("aws-signature", "X-Amz-", r"(?<=X-Amz-)(?:Signature=[0-9a-f]{64}|Security-Token=[\w%+/=-]{40,})"),
    (
        "azure-client-secret",
        "Q~",
        rf"(?:(?<![{_WORD}~.-])|(?<=\\[nrt]))[\w~.-]{{3}}\dQ~[\w~.-]{{31,34}}(?![\w~-])",
    ),
    ("azure-key", "AccountKey= SharedAccessKey=", r"(?<=Key=)[A-Za-z0-9+/]{40,}={0,2}"),
    ("azure-sas", "sig=", r"(?<=[?&;]sig=)(?:[A-Za-z0-9+/]|%2[BbFf]){40,}+(?:(?:%3[Dd]|=){1,2})?"),
    ("openai-key", "sk-", rf"{_L}sk-(?:[A-Za-z0-9]{{32,}}|(?=[A-Za-z]*\d)[A-Za-z0-9]{{20,}})"),
    ("cloudflare-key", "v1.0-", r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    (
        "doppler-token",
        "dp.",
        rf"{_L}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{{1,40}}\.)?[A-Za-z0-9]{{40,44}}",
    ),
    ("snyk-token", "snyk_", r"snyk_[us]at\.[\w.-]{30,}"),
    ("telegram-token", ":AA", r"(?<!\d)\d{7,10}:AA[\w-]{30,36}(?![\w-])"),
    ("twilio-key", "SK AC", rf"{_L}(?:SK|AC)[0-9a-f]{{32}}{_R}"),
    ("sendgrid-key", "SG.", rf"{_L}SG\.[\w-]{{16,32}}\.[\w-]{{32,64}}"),
    ("mailgun-key", "key-", rf"{_L}key-[0-9a-f]{{32}}{_R}"),
    ("mailchimp-key", "-us", rf"(?<![0-9a-f])[0-9a-f]{{32}}-us\d{{1,2}}{_R}"),
    ("resend-key", "re_", rf"{_L}re_(?=[a-z_]*[A-Z0-9])[A-Za-z0-9]{{8,9}}_[A-Za-z0-9]{{20,}}{_R}"),
    ("airtable-token", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_R}"),
    ("hubspot-token", "pat-", rf"pat-(?:na|eu|ap)\d-{_UUID}"),
    ("asana-token", "0/ 1/ 2/", rf"(?<![\w/.])[012]/\d{{15,17}}(?:/\d{{15,17}})?:[0-9a-f]{{32}}{_R}"),
    (
        "discord-token",  # it starts with a decimal number in base64
        "MD MT Mj Mz ND NT Nj Nz OD OT",
        rf"{_L}[MNO][DTjz][A-Za-z0-9]{{20,26}}\.[\w-]{{6}}\.[\w-]{{27,40}}",
    ),
    ("dropbox-token", "sl.", rf"{_L}sl\.(?:u\.)?[\w-]{{100,}}"),
    ("newrelic-key", "NRAL", r"[0-9a-f]{36}NRAL"),
    ("dynatrace-token", "dt0", rf"{_L}dt0[a-z]\d\d\.[A-Z0-9]{{8,24}}\.[A-Z0-9]{{60,}}"),
    (
        "onepassword-key",
        "A3-",
        rf"{_L}A3-[A-Z0-9]{{6}}-[A-Z0-9]{{5,6}}-?[A-Z0-9]{{5}}(?:-[A-Z0-9]{{5}}){{3}}",
    ),
    ("fcm-server-key", ":APA91b", r"AAAA[\w-]{7}:APA91b[\w-]{100,}"),
    ("password-hash", "$2a$ $2b$ $2y$", rf"\$2[aby]\$\d\d\${_CRYPT}{{53}}"),
    ("password-hash", "$5$ $6$ $y$", rf"\$(?:5|6|y)\$(?:[\w=]{{1,20}}\$)?{_CRYPT}{{1,32}}\${_CRYPT}{{40,}}"),
    ("password-hash", "$apr1$", rf"\$apr1\${_CRYPT}{{1,8}}\${_CRYPT}{{22}}"),
    ("password-hash", "$argon2", r"\$argon2i?d?\$v=\d+\$[\w,=]+\$[\w+/]{11,}\$[\w+/]{20,}"),
)

# A token whose body is visibly blank or a slot: ghp_xxxxxxxx, sk-..., glpat-your-token-goes-here.
_BLANK = re.compile(r"(?i)x{6,}|\*{3}|\.{3}|…|0{16,}|your|placeholder|redacted|goes[-_]?here|replace")


def anchored(text: str) -> list[Row]:
    """The formats of which ``text`` holds an anchor: all that can match in it."""
    long = " ".join(pattern(r"[\w+/=.:$~@%&?-]{15,}+", re.ASCII).findall(text))
    return [row for anchor, row in _rows() if anchor in long] if long else []


def anchors() -> list[str]:
    """All anchors there are."""
    return [anchor for anchor, _ in _rows()]


def issued(text: str, rows: list[Row]) -> Iterator[Span]:
    """Yield (kind, start, end) of the keys and tokens of the formats ``rows`` in ``text``."""
    for kind, expression in dict.fromkeys(rows):
        for match in pattern(expression, re.ASCII).finditer(text):
            if not _BLANK.search(match[0]):
                yield kind, match.start(), match.start() + len(match[0].rstrip("."))


@cache
def _rows() -> list[tuple[str, Row]]:
    """Every format as (anchor, (kind, pattern)); of several anchors each has its row."""
    rows = []
    for kind, alphabet, least, prefixes in PREFIXED:
        for prefix in prefixes.split():
            # A long prefix is unmistakable even right behind other letters (`%3Dghp_…`).
            left = "" if len(prefix) > 3 and not prefix[-1].isalnum() else _L
            rows.append((prefix, (kind, f"{left}{re.escape(prefix)}[{alphabet}]{{{least},}}+")))
    for kind, anchors, expression in SHAPED:
        rows += [(anchor, (kind, expression)) for anchor in anchors.split()]
    return rows
