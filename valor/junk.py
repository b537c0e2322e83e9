"""The one predicate for what is not worth remembering, asked by every writer.

Each rule looks for text that says nothing: what a person says to keep a conversation
going, what a model says when it declines, what a tool or a harness prints around the
facts, and torn pieces of any of them. A short sentence that states something passes:
"CI needs Python 3.11" is worth its line.
"""

from __future__ import annotations

import json
import re
import unicodedata

# A phrase of these words alone acknowledges, greets or thanks; "|" marks off the words that only come along.
_POLITE, _COMPANY = (
    frozenset(part.split())
    for part in """
    ok okay okey oke k kk yes yep yeah yup no nope nah sure thanks thank thx ty cheers please pls done perfect great
    good nice cool awesome excellent fine super wow lgtm ack acknowledged understood roger noted gotcha agreed right
    correct exactly absolutely definitely hi hello hey bye goodbye morning welcome congratulations congrats sorry
    proceed continue wonderful brilliant fantastic amazing sounds looks works worked finished completed ready yay
    danke dankeschön bitte ja nein gerne erledigt fertig verstanden alles klar passt prima genau gut hallo tschüss
    merci oui non parfait compris bonjour salut voilà super bien gracias vale listo hecho perfecto entendido claro
    sí hola adiós bueno grazie prego fatto capito certo sì ciao bene obrigado obrigada feito certo perfeito entendi
    beleza pronto sim olá bedankt dank klaar goed begrepen oké hoi tack klart okej förstått hej takk tusen greit
    ferdig fint tak kiitos selvä valmis joo dzięki dziękuję gotowe zrobione dobrze jasne rozumiem tak děkuji díky
    hotovo dobře jasně ano köszönöm kész rendben mulțumesc gata спасибо готово хорошо понял поняла понятно ок да нет
    сделано отлично ладно привет дякую добре зрозуміло так teşekkürler tamam anladım bitti evet hayır terima kasih
    baik selesai siap ya salamat cảm ơn được rồi xong vâng شكرا تم حسنا نعم תודה בסדר כן धन्यवाद ठीक हाँ asante
    ευχαριστώ εντάξει ναι
    |
    a an the all that this it its is was are be been i i'm im i'll ill i've you you're youre your we we'll let's lets
    me my now then so very much lot lots many again for to of and but too just also here there there's really pretty
    will would can do does did go ahead on with up in job work one get got point question call idea thing things
    everything anything else have has had make makes made sense by way me see know working on it first next will
    moment second sec minute ma'am sir mate guys team at once soon today later how what's up not problem worries
    need like look check start begin keep going try take test moving well back
    schön sehr gut das ist in ordnung so vielen dank geht mach weiter und es mir ich kein problem
    beaucoup très c'est bon fait d'accord ça marche va de rien je tout est
    muchas muchos de acuerdo muy está todo por favor mille va tutto bene d'accordo molto muito tudo bem está
    je wel is zo heel erg så mycket bra det er mange hvala bardzo to velmi moc большое всё очень это çok ederim
    sudah banyak nhiều है गया جدا רבה हो
    """.split("|")
)
# The same in scripts that put no blanks between words: the whole text, its punctuation taken off.
_POLITE_RUN = re.compile(
    r"(?:(?:好+的?|行|可以|没问题|沒問題|谢谢|謝謝|多谢|感谢|明白|知道|了解|收到|完成|做完|搞定|辛苦|是的|对的?|嗯+|不客气"
    r"|你好|您好|不错|很好|太好|太棒|继续|請繼續|请继续)(?:了|啦|吧|的|你|您|们|我|啊|呢)*"
    r"|ありがとう(?:ございま(?:す|した))?|どうも|了解(?:です|しました|いたしました)?|承知(?:しました|いたしました|です)?"
    r"|わかりました|分かりました|はい|いいえ|完了(?:です|しました)?|終わりました|できました|お疲れ様(?:です|でした)?"
    r"|お願いします|大丈夫(?:です)?|こんにちは|すみません|素晴らしい(?:です)?|いいですね|なるほど"
    r"|네+|예|아니요|감사(?:합니다|해요)|고마워요?|고맙습니다|알겠(?:습니다|어요)|알았어요?|완료(?:했습니다|됐습니다|되었습니다)?"
    r"|좋아요|좋습니다|수고하셨습니다|안녕하세요|괜찮아요|ขอบคุณ(?:ครับ|ค่ะ)?|เสร็จแล้ว|โอเค|ครับ|ค่ะ|เข้าใจแล้ว)+\Z"
)
_CANNOT = r"(?:can(?:'t|not|\ not)|could(?:n't|\ not)|won't|will\ not|unable|not\ able|must\ decline|have\ to\ decline)"
_REFUSALS = (
    # I'm sorry, but I can't …; I cannot help with that; as an AI …
    rf"(?:i'?m (?:very |so |really )?sorry|sorry|i apologi[sz]e|apologies|my apologies|unfortunately)\b[^.\n]{{0,40}}?"
    rf"\bi(?: am|'m)? {_CANNOT}",
    rf"i(?:'m| am)? {_CANNOT} (?:to )?(?:be able to )?(?:help|assist|comply|provide|fulfil|answer|discuss|share|engage"
    r"|do that|do this|(?:continue with|complete|create|write) (?:this|that)|access (?:the internet|external|real))",
    r"i (?:do not|don't) have (?:access to|enough|sufficient|the ability|any (?:information|memory|context))",
    r"as an? (?:ai|artificial|large language|language) ?(?:model|assistant|intelligence)?\b",
    r"i(?:'m| am) (?:just |only )?an? (?:ai|large language|language model)\b",
    # what an extracting model says when it finds nothing
    r"(?:there (?:is|are|was|were) )?(?:nothing|no)\b[^.\n]{0,50}?\b(?:worth|to) "
    r"(?:remember|record|sav|stor|extract|report|captur|add|note|memoriz)\w*[^.\n]{0,40}\.?\Z",
    r"no (?:new |notable |significant |durable )+(?:learning|lesson|observation|memor(?:y|ie)|insight|fact)s?\b",
    # the same in other languages
    r"(?:leider |das |dabei )?kann ich\b[^.\n]{0,40}\bnicht (?:helfen|tun|beantworten|unterstützen)",
    r"(?:es )?tut mir leid\b[^.\n]{0,30}\b(?:ich|kann)\b|ich kann (?:dir |ihnen |euch )?(?:dabei|damit) (?:leider )?nicht",
    r"(?:désolée?|je suis désolée?)\b.{0,20}\bje ne (?:peux|suis)|je ne peux (?:malheureusement )?pas (?:vous |t')?aider",
    r"(?:lo siento|lamento|perdona|disculpa)\b.{0,20}\bno puedo|no puedo (?:ayudar|asistir|responder|hacer eso)",
    r"(?:mi dispiace|spiacente)\b.{0,20}\bnon posso|non posso (?:aiutar|assister|rispondere)",
    r"(?:desculpe|sinto muito|lamento)\b.{0,20}\bnão posso|não posso (?:ajudar|responder)",
    r"(?:sorry|het spijt me)\b.{0,20}\bik kan\b.{0,20}\bniet|daar kan ik (?:je |u )?niet",
    r"(?:przepraszam|niestety)\b.{0,20}\bnie mogę|(?:извините|простите|к сожалению)\b.{0,20}не могу",
    r"申し訳(?:ありません|ございません)|(?:很?抱歉|对不起|對不起)[,，]?.{0,6}(?:无法|不能|無法|没法)|我(?:无法|不能)(?:帮|协助|提供|回答)",
    r"죄송(?:합니다|하지만)|(?:üzgünüm|maalesef)\b.{0,30}(?:olamam|yapamam)|maaf,? saya tidak (?:bisa|dapat)|xin lỗi,? tôi không thể",
)
# What a harness or a tool wraps around the facts; a text that begins so holds no fact of its own.
_HARNESS = re.compile(
    r"<(?:system-reminder|command-(?:name|message|args|contents)|local-command-\w+|user-prompt-submit-hook|bash-(?:input|std\w+)"
    r"|tool_use_error|function_results|task-notification|ide_\w+|persisted-output)\b"
    r"|caveat: the messages below were generated"
    r"|\[request interrupted by user|this session is being continued from a previous conversation"
    r"|please continue the conversation from where we left|the user opened the file|here's the result of running `cat -n`"
    r"|the file \S+ has been (?:updated|created)|file created successfully|todos have been modified"
    r"|\W{0,3}(?:caller|hook) ?(?:success|additional context)|called the \w+ tool with|result of calling the \w+ tool"
    r"|diff --git a/|@@ -\d+(?:,\d+)? \+\d+|index [0-9a-f]{7,}\.\.[0-9a-f]{7,}"
    r"|api error: (?:\d{3}|connection|request)|claude ai usage limit|prompt is too long|credit balance is too low"
    r"|conversation compacted|no response requested|context left until auto-compact",
    re.IGNORECASE,
)
# Lines that are tool noise when nothing else stands with them.
_NOISE = re.compile(
    r"(?i)\W*(?:(?:command failed (?:with |: )?|process (?:exited|finished) (?:with )?|error: )?(?:exit|return) ?(?:code|status)[: =]*-?\d+"
    r"|(?:no|empty|\(no|\[no) ?(?:output|content|stdout|matches found|files found|results?(?: found)?|changes(?: detected| made)?|errors?)"
    r"|tool (?:ran without|returned no|executed with no) output(?: or errors)?|traceback \(most recent call last\)|(?:command )?timed out(?: after [\w.]+)*"
    r"|(?:command|permission|access) (?:not found|denied)|no such file or directory|interrupted(?: by user)?|killed|aborted|terminated"
    r"|segmentation fault(?: \(core dumped\))?|(?:build|tests?|compilation|lint|all tests?) (?:ok|passed|pass|failed|succeeded|successful)"
    r"|\d+ (?:tests? |files? )?(?:passed|failed|changed|insertions?\(\+\)|warnings?)(?:,? \d+ \w+(?:\([+-]\))?)*(?: in [\d.]+ ?m?s)?"
    r"|success(?:ful(?:ly)?)?|failed|failure|error|warning|undefined|null|none|nil|nan|n/?a|true|false|todo|tbd|wip|fixme"
    r"|already up[ -]to[ -]date|up to date|nothing to commit.{0,30}|everything up-to-date|done in [\d.]+ ?m?s|loading|please wait|running)\W*\Z"
)
_STUB = re.compile(r"(?:<|&lt;)\s*thought\s+id\s*=[^>]{0,120}?(?:>|&gt;)\s*\[\w+\]", re.IGNORECASE)
_KEY = re.compile(r"[\s{\[}\],:\\]*\\*\"[^\"\n]{0,80}\\*\"\s*:")
_DANGLING = (
    r"(?:\A|\s)(?:the|an?|and|or|but|because|of|than|into|my|your|its|their|und|oder|der|die|das|et|ou)\Z"
)
_FILLER = frozenset(
    "test tests testing asdf qwer qwerty foo bar baz qux lorem ipsum dolor hello world blah bla xxx abc".split()
)
_LITTLE = frozenset(
    "a an the this that these those it its is are was were be been i we you he she they them his her our my your and or but so "
    "then than if of to in on at by for with from as not no do does did has have had will would can could there here what "
    "which who when where how why also just some any all more most very too again now".split()
)
# Letters of scripts that put no blanks between words.
_UNSPACED = "[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_SENTENCE = rf"(?:[^\W\d_]{{2,}}[,']?\s+){{3}}[^\W\d_]{{2,}}|{_UNSPACED}{{5}}"
_BETWEEN = r"[\s.,;:!?()\[\]\"“”„«»…、。！？،।*_~/–—-]+"


def why_junk(summary: str, details: str = "") -> str | None:
    """Why the text is not worth a line, in a word, or None if it is.

    One of ``empty``, ``stub_echo``, ``boilerplate``, ``refusal``, ``json_shrapnel``,
    ``acknowledgement``, ``fragment``. Details that say something excuse a summary that is
    merely short.
    """
    summary = unicodedata.normalize("NFKC", summary).strip()
    if not summary:
        return "empty"
    if _STUB.search(summary) or _STUB.search(details):
        return "stub_echo"
    reason = _why(summary)
    if (
        reason in ("acknowledgement", "fragment")
        and _word_count(details) >= 5
        and _why(details.strip()) is None
    ):
        return None
    return reason


def _why(text: str) -> str | None:
    plain = text.strip(" \t\n*_`>#-–—•'\"“”")
    if _HARNESS.match(plain) or _NOISE.match(plain):
        return "boilerplate"
    plain = plain.replace("’", "'")
    if any(re.match(refusal, plain, re.IGNORECASE) for refusal in _REFUSALS):
        return "refusal"
    if _is_json(text):
        return "json_shrapnel"
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text)
    if not words:
        return "fragment"
    if _is_polite(text, words):
        return "acknowledgement"
    return "fragment" if _is_fragment(text, words) else None


def _is_json(text: str) -> bool:
    """A JSON value, or a piece torn out of one: keys, brackets and commas without a sentence around them."""
    if text[0] in "{[" and text[-1] in "}]":
        try:
            return isinstance(json.loads(text), (dict, list))
        except ValueError:
            pass
        except RecursionError:
            return True
    marks = sum(text.count(mark) for mark in '{}[]":,\\')
    torn = bool(_KEY.match(text)) or (marks >= 0.2 * len(text) and bool(re.search(r'[}\]{\[]|":', text)))
    return torn and not re.search(_SENTENCE, re.sub(r'"[^"\n]{0,400}"', " ", text))


def _is_polite(text: str, words: list[str]) -> bool:
    if len(words) <= 12 and _POLITE_RUN.match("".join(c for c in text if c.isalnum() or _is_mark(c))):
        return True
    tokens = [token for token in re.split(_BETWEEN, text.casefold()) if any(map(str.isalnum, token))]
    known = all(token in _POLITE or token in _COMPANY for token in tokens)
    return known and len(tokens) <= 12 and any(token in _POLITE for token in tokens)


def _is_fragment(text: str, words: list[str]) -> bool:
    """Too little to say anything, or broken off."""
    unspaced = len(re.findall(_UNSPACED, text))
    if unspaced:
        return unspaced < 4 and len(words) < 3
    tokens = text.split()
    lowered = {word.casefold() for word in words}
    if len(words) == 1 or len(tokens) == 1 or lowered <= _LITTLE or lowered <= _FILLER:
        return True
    if len(tokens) <= 12 and re.search(_DANGLING, text):
        return True
    code = text.endswith((";", "{", "});")) or text.startswith(("}", ")", "]"))
    return len(tokens) <= 8 and (
        code or text[0] in ",;:" or (len(tokens) <= 4 and text.endswith(("...", "…")))
    )


def _word_count(text: str) -> int:
    """How many words ``text`` has; two characters of a script without blanks count as one."""
    return len(re.findall(r"[^\W\d_]{2,}", text)) + len(re.findall(_UNSPACED, text)) // 2


def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")
