"""The secret detector: what it must refuse, what it must let pass, and that it is quick and silent.

No secret stands in this file: values are made at run time from an alphabet and a seed, or
from pieces, so that a scanner run over the tests finds nothing in them.
"""

from __future__ import annotations

import base64
import json
import os
import random
import string
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor.secrets.detect import find, redact

ROOT = Path(__file__).parents[1]

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
URL64 = ALNUM + "-_"
B64 = ALNUM + "+/"
HEX = "0123456789abcdef"


def made(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """A random-looking string with a digit, the same in every run; its ends are letters or digits."""
    plain = [c for c in alphabet if c.isalnum()]
    rng = random.Random(f"{length}{alphabet}{seed}")
    middle = [rng.choice(alphabet) for _ in range(length - 3)]
    return "".join([rng.choice(plain), "7", *middle, rng.choice(plain)])


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def jwt(**claims: str) -> str:
    def part(data: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode().rstrip("=")

    return ".".join(
        [part({"alg": "HS256", "typ": "JWT"}), part(claims or {"sub": "1234567890"}), made(43, URL64)]
    )


def pem(label: str, body: str, newline: str = "\n", end: bool = True) -> str:
    key = "PRIVATE" + " KEY"
    lines = [
        "-----BEGIN " + f"{label} {key}".strip() + "-----",
        *[body[i : i + 64] for i in range(0, len(body), 64)],
    ]
    return newline.join([*lines, "-----END " + f"{label} {key}".strip() + "-----"] if end else lines)


HUNTER = "hunter" + "2"
STRONG = "Tr0ub" + "4dor&3"
WINTER = "Winter" + "2024!"
MARKS = "S#cret" + "!Pass"
GH = "ghp" + "_" + made(36)
AWS = "AKIA" + made(16, BASE32)
AWS_SECRET = made(40, B64)
KEY = made(32)
HEXKEY = made(32, HEX)

# label: the secret, as it would be pasted alone
ISSUED = {
    "aws access key": AWS,
    "aws temporary key": "ASIA" + made(16, BASE32),
    "aws documentation key": "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "gcp api key": "AIza" + made(35, URL64),
    "gcp oauth secret": "GOCSPX" + "-" + made(28, URL64),
    "gcp access token": "ya29" + "." + made(120, URL64),
    "azure client secret": made(3) + "8Q~" + made(34, URL64),
    "github classic": GH,
    "github oauth": "gho" + "_" + made(36),
    "github user": "ghu" + "_" + made(36),
    "github server": "ghs" + "_" + made(36),
    "github refresh": "ghr" + "_" + made(36),
    "github of one letter": "ghp" + "_" + "a" * 36,
    "github fine-grained": "github" + "_pat_" + made(22) + "_" + made(59),
    "gitlab personal": "glpat" + "-" + made(20, URL64),
    "gitlab routable": "glpat" + "-" + made(27, URL64) + ".01." + made(9, LOWER),
    "gitlab deploy": "gldt" + "-" + made(20, URL64),
    "gitlab runner": "glrt" + "-" + made(20, URL64),
    "gitlab trigger": "glptt" + "-" + made(40, HEX),
    "gitlab job": "glcbt" + "-64_" + made(20, URL64),
    "bitbucket app password": "ATBB" + made(32),
    "atlassian": "ATATT3" + made(180, URL64) + "=" + made(8, UPPER),
    "slack bot": "xoxb" + "-123456789012-123456789012-" + made(24),
    "slack user": "xoxp" + "-1234567890-1234567890-1234567890-" + made(32, HEX),
    "slack app": "xapp" + "-1-A0123456789-1234567890123-" + made(64, HEX),
    "slack webhook": "https://hooks.slack" + ".com/services/T01234567/B01234567/" + made(24),
    "discord bot": b64("1234567890" + "12345678").rstrip("=") + ".G" + made(5) + "." + made(38, URL64),
    "discord webhook": "https://discord" + ".com/api/webhooks/123456789012345678/" + made(68, URL64),
    "telegram bot": "1234567890" + ":AA" + made(33, URL64),
    "stripe live": "sk" + "_live_" + made(24),
    "stripe test": "sk" + "_test_" + made(24),
    "stripe restricted": "rk" + "_live_" + made(99),
    "stripe webhook": "whsec" + "_" + made(32),
    "twilio key": "SK" + made(32, HEX),
    "twilio account": "AC" + made(32, HEX),
    "sendgrid": "SG" + "." + made(22, URL64) + "." + made(43, URL64),
    "mailgun": "key" + "-" + made(32, HEX),
    "mailchimp": made(32, HEX) + "-us" + "14",
    "npm": "npm" + "_" + made(36),
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + made(150, URL64),
    "rubygems": "rubygems" + "_" + made(48, HEX),
    "docker": "dckr" + "_pat_" + made(27, URL64),
    "hugging face": "hf" + "_" + made(34),
    "openai classic": "sk" + "-" + made(20) + "T3Blbk" + "FJ" + made(20),
    "openai bare": "sk" + "-" + made(48),
    "openai project": "sk" + "-proj-" + made(74, URL64) + "T3Blbk" + "FJ" + made(74, URL64),
    "anthropic": "sk" + "-ant-api03-" + made(93, URL64) + "AA",
    "openrouter": "sk" + "-or-v1-" + made(64, HEX),
    "groq": "gsk" + "_" + made(52),
    "digitalocean": "dop" + "_v1_" + made(64, HEX),
    "databricks": "dapi" + made(32, HEX),
    "vault": "hvs" + "." + made(90, URL64),
    "doppler": "dp" + ".pt." + made(43),
    "doppler service": "dp" + ".st.prd." + made(43),
    "linear": "lin" + "_api_" + made(40),
    "notion": "ntn" + "_" + made(46),
    "notion older": "secret" + "_" + made(43),
    "shopify": "shpat" + "_" + made(32, HEX),
    "terraform": made(14) + ".atlasv1." + made(67, URL64),
    "pulumi": "pul" + "-" + made(40, HEX),
    "grafana": "glsa" + "_" + made(32) + "_" + made(8, HEX),
    "newrelic": "NRAK" + "-" + made(27, UPPER),
    "airtable": "pat" + made(14) + "." + made(64, HEX),
    "figma": "figd" + "_" + made(40, URL64),
    "postman": "PMAK" + "-" + made(24, HEX) + "-" + made(34, HEX),
    "hubspot": "pat" + "-na1-" + "12345678-1234-1234-1234-" + made(12, HEX),
    "heroku": "HRKU" + "-" + made(60, URL64),
    "supabase": "sbp" + "_" + made(40, HEX),
    "age": "AGE-SECRET" + "-KEY-1" + made(58, UPPER),
    "tailscale": "tskey" + "-auth-" + made(12) + "-" + made(24),
    "resend": "re" + "_" + made(8) + "_" + made(24),
    "facebook": "EAA" + made(160),
    "bcrypt": "$2b" + "$12$" + made(53, ALNUM + "./"),
    "shadow": "$6" + "$" + made(16) + "$" + made(86, ALNUM + "./"),
    "jwt": jwt(),
    "pem rsa": pem("RSA", made(800, B64)),
    "pem pkcs8": pem("", made(1600, B64)),
    "pem openssh": pem("OPENSSH", made(400, B64)),
    "pem encrypted": pem("ENCRYPTED", made(900, B64)),
    "pem short": pem("EC", "MHc" + "CAQEE"),
}

# how people write a token around their words
SURROUNDINGS = [
    "{s}",
    "use {s} for the staging bucket",
    'client = Client("{s}")',
    "export TOKEN='{s}'",
    '{{"note": "rotated {s}", "n": 1}}',
    "The CI failed because `{s}` had expired.",
    "left={s}&right=1",
    "first line\\n{s}\\nlast line",
    "({s}), [{s}]; <{s}>",
    "鍵は{s}です",
]

ASSIGNED = {
    "env": f"DB_PASSWORD={STRONG}",
    "env quoted": f'export API_KEY="{KEY}"',
    "env hex": f"DATADOG_API_KEY={HEXKEY}",
    "env uuid key": "HEROKU_API" + "_KEY=1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901",
    "env suffix": f"API_KEY_PROD={KEY}",
    "env rails": f"SECRET_KEY_BASE={made(128, HEX)}",
    "env word and digits": f"password = {HUNTER}",
    "env passwd colon": f"passwd: {HUNTER}",
    "env pwd": f"pwd={WINTER}",
    "env mysql": f"MYSQL_PWD={MARKS}",
    "env pg": f"PGPASSWORD={HUNTER} psql -h db",
    "secret": f"secret={made(24)}",
    "jwt secret": f"JWT_SECRET=supersecret{made(6, string.digits)}",
    "yaml": f"database:\n  user: app\n  password: {STRONG}\n",
    "yaml quoted": f"  client_secret: '{made(40)}'",
    "yaml block": f"token:\n  {made(40)}",
    "k8s env": f"- name: API_TOKEN\n  value: {made(40)}",
    "ecs json": f'{{"name":"DB_PASSWORD","value":"{STRONG}"}}',
    "json": f'{{"password": "{HUNTER}"}}',
    "json camel": f'{{"apiKey":"{KEY}","retries":3}}',
    "json token": f'{{"access_token": "{made(64)}", "token_type": "bearer"}}',
    "json escaped": f'payload: "{{\\"password\\": \\"{STRONG}\\"}}"',
    "json escaped twice": f'\\\\\\"api_key\\\\\\": \\\\\\"{KEY}\\\\\\"',
    "python": f'password = "{STRONG}"',
    "python typed": f'api_token: str = "{made(40)}"',
    "python optional": f"secret_key: Optional[str] = '{made(50, ALNUM + '!@#')}'",
    "python environ": f'os.environ["API_KEY"] = "{KEY}"',
    "python getenv default": f'os.getenv("DB_PASSWORD", "{STRONG}")',
    "python keyword": f'connect(host="db", user="app", password="{HUNTER}")',
    "python secretstr": f'api_key = SecretStr("{KEY}")',
    "python compare": f'if password == "{HUNTER}":',
    "python dict": f"auth = {{'token': '{made(32)}'}}",
    "js const": f"const authToken = '{made(36)};'",
    "js object": f"axios.post(url, {{ apiKey: `{KEY}` }})",
    "ts": f'private readonly clientSecret: string = "{made(30)}";',
    "go": f'apiKey := "{KEY}"',
    "go typed": f'const token string = "{made(40)}"',
    "rust": f'let secret_key: &str = "{made(40)}";',
    "java": f'String dbPassword = "{STRONG}";',
    "java setter": f'config.setPassword("{HUNTER}");',
    "ruby hash": f"password => '{STRONG}',",
    "php define": f"define('DB_PASSWORD', '{STRONG}');",
    "php arrow": f"'password' => '{HUNTER}',",
    "properties": f"spring.datasource.password={STRONG}",
    "ini": f"[db]\npassword = {MARKS}",
    "toml": f'token = "{made(40)}"',
    "hcl": f'  secret_key = "{AWS_SECRET}"',
    "powershell": f'$env:API_TOKEN = "{made(32)}"',
    "dockerfile": f"ENV API_KEY={KEY}",
    "docker arg": f"docker run -e MYSQL_ROOT_PASSWORD={HUNTER} mysql:8",
    "xml element": f"<password>{STRONG}</password>",
    "xml attribute": f'<add key="ApiKey" value="{KEY}"/>',
    "maven": f"<privateToken>{made(20)}</privateToken>",
    "sql": f"CREATE USER app IDENTIFIED BY '{STRONG}'",
    "sql postgres": f"ALTER ROLE app WITH PASSWORD '{STRONG}'",
    "flag": f"deploy --token {made(32)} --env prod",
    "flag equals": f"mysqldump --password={HUNTER} app",
    "flag quoted": f"vault login --password '{STRONG}'",
    "flag single dash": f"keytool -storepass {HUNTER} -alias x",
    "query": f"GET /v1?access_token={made(40)}&page=2",
    "header key": f"X-Api-Key: {KEY}",
    "header private": f'curl -H "PRIVATE-TOKEN: {made(20)}" host',
    "npmrc": f"//registry.example.org/:_authToken={made(36)}",
    "docker auth": f'{{"auths":{{"reg.io":{{"auth":"{b64("deploy:" + STRONG)}"}}}}}}',
    "azure account": f"AccountName=x;AccountKey={made(86, B64)}==;EndpointSuffix=y",
    "azure bus": f"Endpoint=sb://x.net/;SharedAccessKeyName=Root;SharedAccessKey={made(43, B64)}=",
    "azure sas": f"https://x.blob.net/c?sv=2022-11-02&ss=b&sig={made(43)}%3D",
    "aws secret": f"aws_secret_access_key = {AWS_SECRET}",
    "aws secret json": f'"SecretAccessKey": "{AWS_SECRET}"',
    "aws pair": f"{AWS} / {AWS_SECRET}",
    "aws session": f"AWS_SESSION_TOKEN={made(300, B64)}",
    "sql server": "Server=db;Database=app;User Id=sa;Pass" + f"word={STRONG};Encrypt=true",
    "sql server word": "Server=db;Database=app;User Id=sa;Pass" + "word=topsecretword;",
    "libpq": f"host=db user=app password={HUNTER} dbname=x",
    "markdown": f"**Password:** `{STRONG}`",
    "markdown table": f"| API key | {KEY} |",
    "bullet": f"- password → {HUNTER}",
    "full width": "password：" + HUNTER,
    "signing key": f"signing_key: {made(44, B64)}",
    "encryption key": f"ENCRYPTION_KEY={made(64, HEX)}",
    "weak name": f"PLUGIN_CREDENTIALS={made(40)}",
    "bare key": f"key: {made(40)}",
    "totp": f"TOTP_SECRET={made(32, BASE32)}",
    "django": f"SECRET_KEY = 'django-insecure-{made(50, ALNUM + '#@!$%^&*(-_=+)')}'",
}
PROSE = {
    "password is": f"The password is {HUNTER}.",
    "password for": f"the password for the staging database is {STRONG}",
    "password now": f"admin password is now {WINTER}",
    "password was": f"Old root password was `{HUNTER}`, rotate it",
    "changed to": f"changed the password to {STRONG} yesterday",
    "use password": f"log in with password {HUNTER} on the jump host",
    "quoted": f'passphrase "{MARKS}" unlocks the key',
    "colon": f"staging password: {HUNTER}",
    "api key is": f"our API key is {KEY}",
    "token for": f"access token for the bot is {made(40)}, do not share",
    "secret": f"client secret is {made(32)}",
    "pw": f"db pw is {STRONG}",
    "creds": f"credentials: admin / {STRONG}",
    "login as": f"log in as admin:{HUNTER} first",
    "german": f"Das Passwort ist {HUNTER}",
    "spanish": f"la contraseña es {STRONG}",
    "french": f"le mot de passe est {WINTER}",
    "portuguese": f"a senha é {HUNTER}",
    "chinese": f"数据库密码是{STRONG}",
    "chinese colon": f"密码：{HUNTER}",
    "japanese": f"パスワードは「{STRONG}」です",
    "korean": f"비밀번호: {HUNTER}",
    "russian": f"пароль: {STRONG}",
}
CARRIED = {
    "url": "postgres://user:" + "pass@db.internal:5432/app",
    "url driver": f"postgresql+psycopg2://app:{HUNTER}@db/app",
    "url mongo": f"mongodb+srv://root:{STRONG}@cluster0.mongodb.net/x",
    "url redis": f"redis://:{HUNTER}@cache:6379/0",
    "url amqp": "amqp://guest:" + "guest@localhost",
    "url https": f"git clone https://bot:{made(24)}@git.example.org/r.git",
    "url at sign": "mysql://root:" + "p@ssw0rd@10.0.0.1/x",
    "url token user": f"https://{made(40, HEX)}@git.example.org/r.git",
    "url encoded": "smtp://mailer:p%40ss" + "%21@mail.example.org:587",
    "url proxy": f"HTTPS_PROXY=http://me:{HUNTER}@proxy:3128",
    "url quoted": f'DATABASE_URL="mysql://u:{HUNTER}@h/d"',
    "go dsn": f"root:{HUNTER}@tcp(127.0.0.1:3306)/app",
    "bearer header": f"Authorization: Bearer {made(40, URL64)}",
    "bearer json": f'"Authorization": "Bearer {made(32)}"',
    "bearer alone": f"got 401 with Bearer {made(48, URL64)}",
    "token header": f"Authorization: token {made(40, HEX)}",
    "basic header": f"Authorization: Basic {b64('admin:' + STRONG)}",
    "curl": f"curl -u admin:{HUNTER} https://host/x",
    "curl words": "curl -u user:" + "pass https://host/",
    "curl long": f"curl -sS --user 'bot:{STRONG}' -X POST https://h",
    "curl lines": f"curl -X POST \\\n  -u bot:{HUNTER} \\\n  https://h",
    "netrc": f"machine api.example.org login bot password {HUNTER}",
    "netrc lines": f"machine h\n  login bot\n  password {STRONG}",
    "mysql": f"mysql -uroot -p{HUNTER} app",
    "redis-cli": f"redis-cli -h cache -a {STRONG} ping",
    "sshpass": f"sshpass -p '{HUNTER}' ssh root@h",
    "docker login": f"docker login -u bot -p {made(20)} reg.io",
    "service account": json.dumps(
        {"type": "service_account", "private_key": pem("", made(1600, B64)) + "\n"}
    ),
    "pem escaped": pem("RSA", made(800, B64), newline="\\n"),
    "pem cut": pem("RSA", made(400, B64), end=False),
    "pem tail": pem("RSA", made(800, B64))[40:],
    "pem one line": pem("EC", made(160, B64), newline=" "),
    "pem in a diff": pem("RSA", made(400, B64)).replace("\n", "\n+"),
    "pem indented": pem("OPENSSH", made(400, B64)).replace("\n", "\n    "),
    "pgp": pem("PGP", made(700, B64)).replace("KEY-----", "KEY BLOCK-----"),
    "putty": "Private" + "-Lines: 2\n" + made(64, B64) + "\n" + made(64, B64),
}
HIDDEN = {
    "zero-width space": GH[:12] + "\u200b" + GH[12:],
    "word joiner in a name": f"pass\u2060word = {HUNTER}",
    "soft hyphen": AWS[:8] + "\u00ad" + AWS[8:],
    "colour": f"\x1b[32m{GH}\x1b[0m",
    "continuation": GH[:25] + "\\\n" + GH[25:],
    "quoted-printable": GH[:25] + "=\n" + GH[25:],
    "wrapped": "the token " + GH[:25] + "\n    " + GH[25:] + " leaked",
    "wrapped jwt": jwt()[:30] + "\n" + jwt()[30:],
    "full-width": "".join(chr(ord(c) + 0xFEE0) for c in f"password={HUNTER}"),
    "bom": "\ufeff" + f"password={HUNTER}",
}
EX = "Exam" + "ple"
MADE_UP = {  # secrets that say of themselves that they are examples are secrets told all the same
    "kebab": f"The dashboard password on staging is Sunflower-{EX}-7.",
    "in front": f"Root password for the scratch VM: {EX.lower()}-Root-2024",
    "login slash": f"Log in to the sandbox with demo / Demo-{EX}9",
    "login colon": f"The admin login is admin:{EX}-Admin-1",
    "login mail": f"Test user: alice@mail.test / Alice-{EX}-5",
    "login and": f"Credentials for the printer are admin and {EX}-Print-6",
    "login twice marked": f"Use one login: admin / {EX}01!!, on the serial console.",
    "by the way": f"The password, by the way, is {EX}-9-Blue",
    "afterwards": f"Use {EX}-Pass-77 as the password for the sandbox",
    "afterwards with": f"The server accepts ftpuser with {EX}-Ftp-3 as password",
    "quoted name": f'Password for user jane is "Jane-{EX}-1"',
    "with password": f"The demo account is demo@mail.test with password {HUNTER}-{EX.lower()}.",
    "wifi": f"Wi-Fi key is {EX}-7781",
    "require pass": f"Redis runs with requirepass {EX}-Redis-55",
    "pgpass": f"pgpass entry: db.mail.test:5432:app:app:{EX}-Pg-8",
    "url": f"postgres://app:{EX.lower()}-pass-1@10.0.0.5:5432/app",
    "curl": f"curl needs -u bot:{EX}-Bot-7 against the artifact server",
    "key": f"The API token for the weather service is wx-{EX.lower()}-9931-abcd",
    "openai": "OPENAI_API_KEY=sk" + f"-{EX.lower()}1234567890abcdef{EX.upper()}",
    "passphrase": f'The passphrase of the signing key is "correct {EX.lower()} battery 42"',
    "short": "ssh pw for pi is raspberry-" + "42",
    "pin": "The unlock PIN for the test phone is " + "0042",
    "seed": "seed phrase: " + " ".join(["apple", "river", "stone", "cloud"] * 3),
    "dutch": f"Het wachtwoord van de testserver is Tulp-{EX}-12",
    "german compound": f"Das WLAN-Passwort lautet Kirsche-{EX}-99",
    "italian": "La password del database di prova è Esempio" + "-2024",
    "russian late": f"Пароль от тестовой базы: {EX}-2024",
    "chinese token": f"接口令牌是 {made(32)}",
}
POSITIVES = {
    f"{group}: {label}": text
    for group, texts in {
        "issued": ISSUED,
        "assigned": ASSIGNED,
        "prose": PROSE,
        "carried": CARRIED,
        "hidden": HIDDEN,
        "made up": MADE_UP,
    }.items()
    for label, text in texts.items()
}
VALUES = [HUNTER, STRONG, WINTER[:-1], MARKS, KEY, HEXKEY, AWS, AWS_SECRET, GH, EX + "-", *ISSUED.values()]


def test_there_are_enough_labelled_texts() -> None:
    assert len(POSITIVES) >= 200
    assert len(NEGATIVES) >= 150
    assert len(set(NEGATIVES)) == len(NEGATIVES)


@pytest.mark.parametrize("label", POSITIVES)
def test_a_secret_is_found(label: str) -> None:
    assert find(POSITIVES[label]), label


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
def test_an_issued_token_is_found_whatever_stands_around_it(surrounding: str) -> None:
    missed = [label for label, secret in ISSUED.items() if not find(surrounding.format(s=secret))]
    assert missed == []


SHA1 = made(40, HEX)
SHA256 = made(64, HEX)
UUID = "1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901"

NEGATIVES = [
    # placeholders
    "password = <password>",
    "export GITHUB_TOKEN=${GITHUB_TOKEN}",
    "export GITHUB_TOKEN=$GITHUB_TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "api_key: xxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ********",
    "password=changeme",
    'api_key = "your-api-key"',
    'api_key = "YOUR_API_KEY_HERE_123"',
    "token = 'example-token-1234'",
    "secret_key: replace-me-with-32-chars",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=sk-" + "x" * 48,
    "ghp_" + "x" * 36,
    "glpat-" + "your-token-goes-here",
    "AKIA" + "X" * 16,
    "password=None",
    "password: null",
    'secret = ""',
    "password: '{{ vault_db_password }}'",
    'password: "#{ENV[:DB_PASSWORD]}"',
    "password = %(db_password)s",
    "PASSWORD=%DB_PASSWORD%",
    "SECRET=$(openssl rand -hex 32)",
    "SECRET=`pass show db/prod1`",
    "api_key=REDACTED",
    "password=[redacted:password]",
    "token=[FILTERED]",
    "const key = process.env.API_KEY2",
    'key = os.environ["API_KEY_2"]',
    'token = os.getenv("GITHUB_TOKEN")',
    'token = std::env::var("API_TOKEN_V2")?',
    "apiKey: import.meta.env.VITE_API_KEY1",
    "password: !vault |",
    "password: ENC[AES256_GCM,data:abc]",
    "password = \"<%= ENV['PG_PASS1'] %>\"",
    "$env:TOKEN = $env:GH_TOKEN2",
    "password: dummy-password-1",
    "api_key: fake_key_for_tests_1",
    "token: 0000000000000000",
    "postgres://user:***@db/app",
    "postgres://user:<password>@db/app",
    "postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/app",
    "postgres://user:[redacted:url-credentials]@db/app",
    "postgres://user:$PGPASSWORD@db/app",
    "mysql://{user}:{password}@{host}/{db}",
    "https://USER:PASSWORD@host/path",
    "redis://:%s@localhost",
    "https://x-access-token:${{ github.token }}@github.com/o/r",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${API_TOKEN_V2}",
    "-H 'Authorization: Bearer YOUR_ACCESS_TOKEN'",
    "Authorization: Bearer eyJ...",
    "Authorization: Basic <base64>",
    'curl -u "$USER:$PASS" https://h',
    "curl -u ${BOT_USER}:${BOT_PASS1} https://h",
    "machine github.com login $USER password $TOKEN1",
    "deploy --token $DEPLOY_TOKEN1",
    "mysql -uroot -p$MYSQL_PWD1 app",
    "hunter2 is the password joke everybody knows",
    # talk about secrets
    "The password is required.",
    "password is not stored anywhere",
    "The password is case-sensitive and at least 12 characters long",
    "password is sha256-hashed before it is sent",
    "the password hash is argon2id, the older one bcrypt",
    "token is base64url-encoded",
    "the token is valid for 3600 seconds",
    "secret is mounted at /run/secrets/db_password1",
    "token: the parser's lookahead, 2 at most",
    "tokens: 128000",
    "max_tokens=200000",
    "token count is 4096 per request",
    "api key is missing, exit 2",
    "An API key is read from the keyring since v2.3.1",
    "Password reset was moved to accounts/views2.py",
    "auth: use OAuth2 instead of basic auth",
    "credentials are looked up in ~/.netrc, then in keyring24",
    "log in as the deploy user on host web01/web02",
    "login fails: HTTP/1.1 answers 401",
    "login and password fields are now autofocused",
    "basic authentication was replaced by mTLS",
    "Bearer tokens are cached for 10 minutes",
    "Bearer authentication1 is the new scheme",
    "keys that start with AKIA are access keys",
    "ghp_ tokens are refused by the hook, glpat- too",
    "a JWT starts with eyJ and has three parts",
    "PEM files start with -----BEGIN PRIVATE" + " KEY-----",
    "look for -----BEGIN RSA PRIVATE" + " KEY----- and -----END RSA PRIVATE" + " KEY----- markers",
    "-----BEGIN RSA PRIVATE" + " KEY-----\n...\n-----END RSA PRIVATE" + " KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE" + made(40, B64) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + made(64, B64) + "\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + made(43, B64) + " me@host",
    "the key is a tuple of (host, port)",
    "the key is sorted by created_at2",
    "password prompt step 2 of 3",
    "pass --token-file instead of --token",
    "pass: 128, fail: 3",
    "pass rate is 99.5% on py311",
    "passing tests: 1280",
    "set the token to None after logout",
    "changed the secret to a required argument",
    "renamed password to passphrase in v3.0.0",
    "password → passphrase",
    "the token was minted by auth-service-2",
    "secret: app-secrets-v2",
    "secretName: postgres-credentials-2024",
    "secretKeyRef: {name: db-creds-1, key: password}",
    "compass2024 is a tool",
    # code
    "token = parser.next_token",
    "token = self.tokens[i + 1]",
    "token = get_token()",
    "password = getpass.getpass()",
    "password = password",
    "def login(user: str, password: str) -> Token:",
    "token: str",
    "password: Optional[str] = None",
    "api_key: SecretStr = Field(default=None)",
    "key = snake_case_name",
    "key = user_id_v2",
    "key = hashlib.sha256(data).hexdigest()",
    'key = f"user:{user_id}:v2"',
    "cache_key = 'v2:users:list:page1'",
    "key=lambda item: item[1]",
    "primary_key=True",
    "sort_key: created_at_2024",
    "foreign_key = 'users.id2'",
    "const token = await getToken(client2)",
    "let key = map.keys().next().unwrap();",
    "token := tok.Type",
    "password = data['password1']",
    "fields = ['username', 'password1', 'password2']",
    "form.password2 = form.password1",
    'config.get("api_key", "")',
    'headers["X-Api-Key"] = settings.api_key_v2',
    "secret = config.secrets.db.password2",
    "if token.kind == TokenKind.Ident2:",
    "Token::Number(42) => Kind::Int32",
    "tokenizer = Tokenizer2.from_file('tok2.json')",
    "keyboard = Keyboard101()",
    "auth=HTTPBasicAuth(user, pw)",
    "authors = ['A. Uthor 1999']",
    "signature = inspect.signature(func2)",
    "signature: (a: int32, b: int64) -> int64",
    "credentials = service_account.Credentials.from_file(path2)",
    'getpass("Password: ")',
    'password = input("Enter password 2: ")',
    '"password": {"type": "string", "minLength": 8}',
    '"token": "string"',
    '"type": "password1field"',
    '<input type="password" name="password1">',
    "--password-file /run/secrets/pg1",
    "--key-id 2 --key-size 4096",
    "docker run -u 1000:1000 image:3.11",
    "docker run --user root:root2 img",
    "ssh -p 2222 git@host",
    "mkdir -p build1/out2",
    "tar -xzf a.tar.gz -C /opt/tool-1.2.3",
    "password_hasher = 'pbkdf2_sha256'",
    "PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']",
    "AUTH_USER_MODEL = 'accounts.User2'",
    "token_type=Bearer2",
    "token_url = https://auth.example.org/oauth2/token",
    "KEY_LENGTH = 2048",
    "TOKEN_TTL=86400",
    "API_KEY_HEADER = 'X-Api-Key-V2'",
    # hashes, identifiers, versions, paths, plain URLs
    f"fixed in commit {SHA1}",
    f"sha256:{SHA256}",
    f"digest: sha256:{SHA256}",
    f"image@sha256:{SHA256}",
    f"integrity sha512-{made(86, B64)}==",
    f"--hash=sha256:{SHA256}",
    f"cache key: {SHA1}",
    f"key: {SHA1}",
    f"cache_key={SHA256}",
    f'etag = "{made(32, HEX)}"',
    f"request id {UUID}",
    f"key: {UUID}",
    f"idempotency-key: {UUID}",
    f"session {UUID} ended",
    f"token {UUID[:8]} seen twice",
    f"partition_key={made(32)}",
    f"next_page_token={made(40)}",
    f"public_key: {made(44, B64)}",
    f"data:image/png;base64,{made(200, B64)}",
    f"git diff {SHA1[:9]}..{SHA1[9:18]}",
    f"at 0x{made(12, HEX)} in libc.so.6",
    "https://example.org/a/b?page=2&sort=key",
    "https://example.org:8443/@scope/pkg@1.2.3",
    "git@github.com:org/repo2.git",
    "ssh://git@github.com:22/org/repo.git",
    "npm i @scope/pkg@2.0.1",
    "postgres://localhost:5432/app",
    "http://localhost:3000/@vite/client2",
    "redis://cache:6379/0",
    "python 3.11.7, redis 7.2.4, key-value store 2.0",
    "see docs/auth/token2.md:42",
    "key-0001 to key-0999 are reserved",
    "risk-assessment-of-2024-and-later-years-v2",
    "task-management-system-for-distributed-agents-2",
    "hf_hub_download_with_retry_and_cache_2",
    "npm_config_registry and npm_lifecycle_event1",
    "sk-learn-compatible-estimators-for-v1-pipelines",
    "AC0123456789 and SK42 are part numbers",
    "EAAA is a header",
    "2024-01-15T10:20:30Z token refreshed",
    "user@example.com asked for a password",
    "the password policy is NIST-800-63B",
    "密码是必填项",
    "パスワードは必須です",
    "비밀번호를 입력하세요",
    "пароль обязателен",
    "Das Passwort ist erforderlich",
    "la contraseña es obligatoria",
]


@pytest.mark.parametrize("text", NEGATIVES)
def test_what_only_looks_like_a_secret_is_let_pass(text: str) -> None:
    assert find(text) == []
    assert redact(text) == text


@pytest.mark.parametrize("label", POSITIVES)
def test_a_redacted_text_keeps_what_surrounds_the_secret_and_nothing_of_it(label: str) -> None:
    clean = redact(f"before\n{POSITIVES[label]}\nafter")
    assert "[redacted:" in clean
    assert clean.startswith("before\n") and clean.endswith("\nafter")
    assert [value for value in VALUES if value in clean] == []
    assert find(clean) == []
    assert redact(clean) == clean


def test_a_finding_names_kind_and_place_and_never_the_value() -> None:
    text = f"token: {GH} and {AWS}"
    first, second = find(text)
    assert (first.kind, text[first.start : first.end]) == ("github-token", GH)
    assert (second.kind, text[second.start : second.end]) == ("aws-access-key", AWS)
    assert GH not in repr(first) and not hasattr(first, "__dict__")
    assert redact(text) == "token: [redacted:github-token] and [redacted:aws-access-key]"


def test_offsets_count_the_characters_of_the_text_that_was_given() -> None:
    hidden = GH[:12] + "\u200b" + GH[12:]
    text = f"密碼 \u200b{hidden}\u200b。"
    (finding,) = find(text)
    assert text[finding.start : finding.end] == hidden


def test_only_the_password_of_a_url_is_taken_out() -> None:
    assert redact(f"postgres://app:{HUNTER}@db/app") == "postgres://app:[redacted:url-credentials]@db/app"


def test_a_whole_token_does_not_swallow_the_line_below_it() -> None:
    assert redact(f"{GH}\nNext") == "[redacted:github-token]\nNext"
    assert redact(f"{GH}\nstep2") == "[redacted:github-token]\nstep2"


PIECES = st.sampled_from(
    [
        *POSITIVES.values(),
        *NEGATIVES,
        "[redacted:password]",
        "[redacted:",
        "]",
        "=",
        ": ",
        '"',
        "\n",
        "\u200b",
        " ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join))
def test_findings_are_in_order_apart_and_gone_after_redaction(text: str) -> None:
    found = find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    clean = redact(text)
    assert find(clean) == []
    assert redact(clean) == clean


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_no_text_is_too_odd_to_search(text: str) -> None:
    assert find(redact(text)) == []


ODD = [
    "a",
    "=",
    "password ",
    "password=",
    "://",
    "://a:",
    "eyJ",
    "eyJaaaaaaaaaa.",
    "-----BEGIN PRIVATE" + " KEY-----\n",
]
ODD += [
    "-----END PRIVATE" + " KEY-----\n",
    'password="',
    "password is ",
    "curl -u ",
    "login a password ",
    "a.",
    "\u200b",
]
ODD += [
    "A_SECRET=",
    "token(",
    '"token",',
    "密码是",
    "creds ",
    "Q~",
    "AKIA",
    "ghp_abc\n",
    "\\\n",
    "machine a login ",
]


@pytest.mark.parametrize("piece", ODD)
def test_a_hostile_text_of_the_largest_size_is_searched_in_one_pass(piece: str) -> None:
    find(piece * (64 * 1024 // len(piece)))  # a quadratic pattern would take minutes here


def test_importing_the_detector_and_searching_plain_words_loads_next_to_nothing() -> None:
    code = (
        "import sys; from valor.secrets.detect import find; assert find('Redis answers before use') == [];"
        "print(*sorted(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    unwanted = {"typing", "dataclasses", "logging", "pathlib", "asyncio", "subprocess", "valor.secrets.prose"}
    assert unwanted & set(loaded.stdout.split()) == set()


def test_neither_the_detector_nor_these_tests_hold_a_secret() -> None:
    sources = [Path(__file__), *(ROOT / "valor" / "secrets").glob("*.py")]
    assert [source.name for source in sources if find(source.read_text(encoding="utf-8"))] == []


SHARED = Path(os.environ.get("VALOR_SHARED", ROOT.parent / "shared"))


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not on this machine")
def test_ten_thousand_commit_messages_raise_at_most_five_false_alarms() -> None:
    alarms = []
    for line in (SHARED / "corpus" / "commits.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = "\n".join([record["summary"], record.get("details", ""), *record.get("tags", [])])
        alarms += [(record["id"], finding) for finding in find(text)]
    assert len(alarms) <= 5, alarms


@pytest.mark.parametrize(
    "said", ["contraseña: ", "Contraseña = ", "mot de passe : ", "hasło: ", "lösenord: "]
)
def test_a_password_named_in_another_language_is_found_and_its_absence_is_not(said: str) -> None:
    assert [one.kind for one in find(said + "Tigre_9921_" + "azul")] == ["password"]
    assert not find(said + "se lee del gestor de claves")
    assert not find(said + "à demander au responsable")
