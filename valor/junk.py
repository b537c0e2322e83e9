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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that acknowledge, greet or thank, in some thirty languages.
_POLITE = _words("""
    ok okay okey oke k kk yes yep yeah yup no nope nah sure thanks thank thx ty cheers please pls done
    perfect great good nice cool awesome excellent fine super wow lgtm ack acknowledged understood roger
    noted gotcha agreed right correct exactly absolutely definitely hi hello hey bye goodbye morning
    welcome congratulations congrats sorry proceed continue wonderful brilliant fantastic amazing sounds
    looks works worked finished completed ready yay danke dankeschön bitte ja nein gerne erledigt fertig
    verstanden alles klar passt prima genau gut hallo tschüss merci oui non parfait compris bonjour
    salut voilà bien gracias vale listo hecho perfecto entendido claro sí hola adiós bueno grazie prego
    fatto capito certo sì ciao bene obrigado obrigada feito perfeito entendi beleza pronto sim olá
    bedankt dank klaar goed begrepen oké hoi tack klart okej förstått hej takk tusen greit ferdig fint
    tak kiitos selvä valmis joo dzięki dziękuję gotowe zrobione dobrze jasne rozumiem děkuji díky hotovo
    dobře jasně ano köszönöm kész rendben mulțumesc gata спасибо готово хорошо понял поняла понятно ок
    да нет сделано отлично ладно привет дякую добре зрозуміло так teşekkürler tamam anladım bitti evet
    hayır terima kasih baik selesai siap ya salamat cảm ơn được rồi xong vâng شكرا تم حسنا نعم תודה בסדר
    כן धन्यवाद ठीक हाँ asante ευχαριστώ εντάξει ναι got acuerdo accord d'accord see understand course
    catch bad fixed same above mentioned valeu vas-y adelante procedi continuar continua давай продолжай
    продолжайте top marche doe haha lol agree agrees fair enough mind sense alright glad happy lovely
    neat sweet solid nicely appreciate appreciated pleasure yw np noice bravo whoa interesting true
    indeed aha hmm hm uh oh ah oops whoops freut klasse toll spitze jawohl richtig stimmt schade moin
    tschau servus problem sieht noté pas-de-problème génial nickel impeccable exact volontiers
    salutations dac daccord genial excelente estupendo correcto exacto claro-que-sí buenos buenas ánimo
    ottimo ottima benissimo bravissimo esatto giusto volentieri procediamo ótimo ótima certinho
    combinado show massa isso helemaal mooi fijn goedemorgen graag zeker precies jättebra toppen precis
    absolut flott supert hyvä hienoa kiva świetnie super-sprawa zgoda pewnie dobra výborně skvělé
    parádní замечательно супер прекрасно конечно верно точно согласен согласна ясно принято молодец
    чудово гаразд звісно harika güzel peki elbette mükemmel bagus mantap betul benar tuyệt tốt đúng
    ممتاز رائع مفهوم מעולה הבנתי מצוין बढ़िया समझ शुक्रिया
""")
# Words that only come along with them.
_COMPANY = _words("""
    a an the all that this it its is was are be been i i'm im i'll ill i've you you're youre your we
    we'll let's lets me my now then so very much lot lots many again for to of and but too just also
    here there there's really pretty will would can do does did go ahead on with up in job work one get
    point question call idea thing things everything anything else have has had make makes made sense by
    way see know working first next moment second sec minute ma'am sir mate guys team at once soon today
    later how what's not problem worries need like look check start begin keep going try take test
    moving well back schön sehr das ist ordnung vielen geht mach weiter und es mir ich kein beaucoup
    très c'est bon fait ça marche va de rien je tout est muchas muchos muy está todo por favor mille
    tutto d'accordo molto muito tudo bem wel zo heel erg så mycket bra det er mange hvala bardzo velmi
    moc большое всё очень это çok ederim sudah banyak nhiều है गया جدا רבה हो let if any help plan about
    as before dir maar pode дальше ти тебе you'd i'd us don't got pra para com ao con los las te ti gli
    le la il per anche that's it's he's she's they're isn't doesn't never update info reply answer
    feedback explanation clarification quick fast response support time wait waiting hear sounds-good
    look-into aus gerade für deine ihre hilfe rückmeldung dass pas problème pour votre ton aide réponse
    suite ayuda tu su respuesta l'aiuto aiuto risposta pela pelo ajuda resposta voor hulp ser ut för
    hjälpen za pomoc odpowiedź за помощь ответ твою вашу для yardımın için atas bantuannya vì giúp đỡ
    lavoro trabajo trabalho travail arbeit he she they who can't won't couldn't
""")
# The same in scripts that put no blanks between words: a run of these is the whole text.
_POLITE_RUN = re.compile(
    "(?:(?:好+的?|行|可以|没问题|沒問題|谢谢|謝謝|多谢|(?:非常|十分)?感谢|明白|知道|了解|收到|完成|做完|搞定|辛苦"
    "|是的|对的?|嗯+|不客气|帮助|帮忙|幫助|没事|没关系|沒關係|你好|您好|不错|很好|太好|太棒|继续|请继续|請繼續)"
    "(?:了|啦|吧|的|你|您|们|我|啊|呢)*"
    "|ありがとう(?:ございま(?:す|した))?|どうも|了解(?:です|しました|いたしました)?"
    "|承知(?:しました|いたしました|です)?|わかりました|分かりました|はい|いいえ|完了(?:です|しました)?"
    "|終わりました|できました|お疲れ様(?:です|でした)?|お願いします|大丈夫(?:です)?|こんにちは|すみません"
    "|問題(?:ありません|ないです|なし)|すごい(?:です)?|素晴らしい(?:です)?|いいですね|なるほど|完璧(?:です)?"
    "|助かりました|(?:続け|進め)てください"
    "|네+|예|아니요|감사(?:합니다|해요)|고마워요?|고맙습니다|알겠(?:습니다|어요)|알았어요?|확인(?:했습니다)?"
    "|완료(?:했습니다|됐습니다|되었습니다)?|좋아요|좋습니다|좋네요|수고하셨습니다|안녕하세요|괜찮아요"
    "|(?:계속|진행)(?:해주세요|하세요)?|부탁(?:드립니다|해요)"
    r"|ขอบคุณ(?:ครับ|ค่ะ)?|เสร็จแล้ว|โอเค|ครับ|ค่ะ|เข้าใจแล้ว)+\Z"
)
# Whoever starts with thanks and stops soon says nothing else; "thanks to the lock" gives a cause.
_THANKS = (
    r"(?:many |muchas |vielen |tusen |mille )?(?:thanks?|thx|cheers|danke?|merci|gracias|grazie|obrigad[oa]"
    r"|bedankt|tack|takk|kiitos|dzięk\w+|děkuj\w+|спасибо|дякую|teşekkürler|terima kasih|cảm ơn"
    r"|شكرا|תודה|धन्यवाद)\b(?! (?:to|an|à|a)\b)"
)
_CANNOT = r"(?:can(?:'t|not| not)|could(?:n't| not)|won't|will not|unable|not able|(?:must|have to) decline)"
_REFUSALS = "|".join(
    (
        # I'm sorry, but I can't …; I cannot help with that; as an AI …
        r"(?:i'?m (?:very |so |really )?sorry|sorry|i apologi[sz]e|(?:my )?apologies"
        rf"|unfortunately|i'?m afraid)\b[^.\n]{{0,40}}?\bi(?: am|'m)? {_CANNOT}",
        rf"i(?:'m| am)? {_CANNOT} (?:to )?(?:be able to )?(?:help|assist|comply|provide|fulfil|answer|discuss"
        r"|share|engage|do (?:that|this)|(?:continue with|complete|create|write) (?:this|that)"
        r"|access (?:the internet|external|real))",
        r"i (?:do not|don't) have (?:access to|enough|sufficient|the ability)",
        r"i (?:do not|don't) have any (?:information|memory|context)",
        r"i(?:'m| am) (?:unable|not able) to "
        r"(?:browse|open|view|see|hear|access|process|generate|perform|recall)",
        r"i (?:do not|don't) (?:know|understand|remember|recall)(?: (?:that|this|the question))?\W*\Z",
        r"as an? (?:ai|artificial intelligence|large language model|language model)\b",
        r"i(?:'m| am) (?:just |only )?an? (?:ai|large language model|language model)\b",
        # what an extracting model says when it finds nothing
        r"(?:there (?:is|are|was|were) )?(?:nothing|no)\b[^.\n]{0,50}?\b(?:worth|to) "
        r"(?:remember|record|sav|stor|extract|report|captur|add|note|memoriz)\w*[^.\n]{0,40}\.?\Z",
        r"[^.\n]{0,60}\bnothing (?:new )?worth (?:remember|record|sav|stor|keep|not|extract)\w*.{0,30}\Z",
        r"no (?:new |notable |significant |durable |relevant |useful |prior )+"
        r"(?:learning|lesson|observation|memor(?:y|ie)|insight|fact)s?\b",
        # the same in other languages
        r"(?:leider |das |dabei )?kann ich\b[^.\n]{0,40}\bnicht (?:helfen|tun|beantworten|unterstützen)",
        r"(?:es )?tut mir leid\b[^.\n]{0,30}\b(?:ich|kann)\b",
        r"ich kann (?:dir |ihnen |euch )?(?:dabei|damit) (?:leider )?nicht",
        r"(?:je suis )?désolée?\b.{0,20}\bje ne (?:peux|suis)",
        r"je ne peux (?:malheureusement )?pas (?:vous |t')?aider",
        r"(?:lo siento|lamento|perdona|disculpa)\b.{0,20}\bno puedo",
        r"no puedo (?:ayudar|asistir|responder|hacer eso)",
        r"(?:mi dispiace|spiacente)\b.{0,20}\bnon posso|non posso (?:aiutar|assister|rispondere)",
        r"(?:desculpe|sinto muito|lamento)\b.{0,20}\bnão posso|não posso (?:ajudar|responder)",
        r"(?:sorry|het spijt me)\b.{0,20}\bkan ik\b.{0,20}\bniet|daar kan ik (?:je |u )?niet",
        r"(?:sorry|het spijt me)\b.{0,20}\bik kan\b.{0,20}\bniet|(?:przepraszam|niestety)\b.{0,20}\bnie mogę",
        r"(?:извините|простите|к сожалению)\b.{0,20}не могу",
        r"申し訳(?:ありません|ございません)",
        r"(?:很?抱歉|对不起|對不起)[,，]?.{0,6}(?:无法|不能|無法|没法)|我?(?:無法|无法)(?:協助|协助|帮|幫)|我(?:无法|不能)(?:帮|协助|提供|回答)",
        r"죄송(?:합니다|하지만)|(?:üzgünüm|maalesef)\b.{0,30}(?:olamam|yapamam)",
        r"maaf,? saya tidak (?:bisa|dapat)|xin lỗi,? tôi không thể",
    )
)
# What a speaker is about to do, which is over when it is read.
_ANNOUNCED = (
    r"(?:(?:ok|okay|great|perfect|good|right|alright|now|so|first|next|then|sure|thanks)[,.!: ]{1,3}){0,3}"
    r"(?:let me|let's(?! encrypt)|i'll|i will|i'm going to|i am going to|we'll now)\b"
)
# What a harness or a tool wraps around the facts: a text that begins so holds none of its own.
_HARNESS = (
    r"</?(?:system-reminder|command-(?:name|message|args|contents)|local-command-\w+|user-prompt-submit-hook"
    r"|bash-(?:input|std\w+)|tool_use_error|function_results|task-notification|ide_\w+|persisted-output)\b"
    r"|caveat: the messages below were generated|\[?request interrupted by user"
    r"|this session is being continued from a previous conversation"
    r"|please continue the conversation from where we left|the user opened the file"
    r"|here's the result of running `cat -n`|the file \S+ has been (?:updated|created)"
    r"|file created successfully|todos have been modified|called the \w+ tool with"
    r"|file has been modified since read"
    r"|(?:the )?user (?:rejected|doesn't want to proceed with) th(?:e|is) tool use|\[image #\d+\]\Z"
    r"|result of calling the \w+ tool|diff --git a/|[+-]{3} [ab]/|@@ -\d+(?:,\d+)? \+\d+"
    r"|index [0-9a-f]{7,}\.\.[0-9a-f]{7,}"
    r"|[d-][r-][w-][x-][rwxst-]{6} |file \"[^\"]+\", line \d+|\d+→|\(node:\d+\)|npm (?:err!|warn) "
    r"|cloning into "
    r"|api error: (?:\d{3}|connection|request)|claude ai usage limit|prompt is too long"
    r"|credit balance is too low|conversation compacted|no response requested|context left until auto-compact"
)
# Lines that are tool noise when nothing else stands with them.
_NOISE = (
    r"(?:command failed (?:with |: )?|process (?:exited|finished) (?:with )?|error: )?"
    r"(?:exit|return) ?(?:code|status)[: =]*-?\d+"
    r"|(?:no|empty) ?(?:output|content|stdout|matches found|files found|results?(?: found)?"
    r"|changes(?: detected| made)?|errors?)"
    r"|tool (?:ran without|returned no|executed with no) output(?: or errors)?"
    r"|traceback \(most recent call last\)|(?:command )?timed out(?: after [\w. ]{1,20})?"
    r"|(?:command|permission|access) (?:not found|denied)|no such file or directory"
    r"|interrupted(?: by user)?|killed|aborted|terminated|segmentation fault(?: \(core dumped\))?"
    r"|(?:build|compilation|lint|(?:all )?tests?) (?:ok|passed|pass|failed|succeeded|successful)"
    r"|\d+ (?:tests? |files? )?(?:passed|failed|changed|insertions?\(\+\)|warnings?)"
    r"(?:,? \d+ \w+(?:\([+-]\))?)*(?: in [\d.]+ ?m?s)?"
    r"|\d+ (?:errors?|problems?|warnings?)(?:,? (?:and )?\d+ (?:errors?|problems?|warnings?))*(?: found)?"
    r"|on branch \S+|commit [0-9a-f]{7,40}|total \d+|collecting \S+|compiled successfully"
    r"|\$ [a-z][\w-]*(?: -\S+)*|success(?:ful(?:ly)?)?|failed|failure|error|warning"
    r"|undefined|null|none|nil|nan|n/?a|true|false"
    r"|todo|tbd|wip|fixme|already up[ -]to[ -]date|up to date|nothing to commit.{0,30}|everything up-to-date"
    r"|done in [\d.]+ ?m?s|loading|please wait|running"
)
# How a refusal and how noise begin, in ASCII letters: a text with another first word is spared the
# expressions, which take longer to compile than all else here takes to run.
_REFUSING = _words("""
    i i'm im sorry my apologies unfortunately as there nothing no leider das dabei kann es tut ich je lo
    lamento perdona disculpa mi spiacente non desculpe sinto het daar przepraszam niestety maaf xin maalesef
""")
_NOISY = _words("""
    command process error exit exitcode exitstatus return returncode returnstatus no empty nooutput
    tool traceback timed permission access interrupted killed aborted terminated segmentation build
    compilation lint all test tests on commit total collecting compiled success successful
    successfully failed failure warning undefined null none nil nan n na true false todo tbd wip
    fixme already up nothing everything done loading please running
""")
_STUB = r"(?:<|&lt;)\s*thought\s+id\s*=[^>]{0,120}?(?:>|&gt;)\s*\[\w+\]"
_KEY = r'[\s{\[}\],:\\]*"[^"\n]{0,80}"\s*:'
_DANGLING = (
    r"(?:\A|\s)(?:the|an?|and|or|but|because|of|than|into|my|your|its|their|und|oder|der|die|das|et|ou)\Z"
)
_CODE_LINE = r"\A[})\],;:]|(?:[;{]|\}\);|\):)\Z|\A(?:import|from) [\w.]+\Z|\Aif \w+:\Z"
_FILLER = _words(
    "test tests testing asdf qwer qwerty foo bar baz qux lorem ipsum dolor hello world blah xxx abc "
    "todo fixme wip fix fixes update updates change changes stuff misc various thing things"
)
_LITTLE = _words("""
    a an the this that these those it its is are was were be been i we you he she they them his her our
    my your and or but so then than if of to in on at by for with from as not no do does did has have
    had will would can could there here what which who when where how why also just some any all one
    more most very too again now order example case
""")
# Letters of scripts that put no blanks between words.
_UNSPACED = "[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_A_WORD = r"[^\W\d_]+(?:'[^\W\d_]+)?"
_SENTENCE = rf"(?:[^\W\d_]{{2,}}[,']?\s+){{3}}[^\W\d_]{{2,}}|{_UNSPACED}{{5}}"
_BETWEEN = r"[\s.,;:!?()\[\]\"“”„«»…、。！？،।*_~/–—-]+"


def why_junk(summary: str, details: str = "") -> str | None:
    """Why the text is not worth a line, in a word, or None if it is.

    One of ``empty``, ``stub_echo``, ``boilerplate``, ``refusal``, ``json_shrapnel``,
    ``acknowledgement``, ``fragment``. Details that say something excuse a summary that is
    merely short.
    """
    summary, details = (
        unicodedata.normalize("NFKC", text).replace("’", "'").strip() for text in (summary, details)
    )
    if not summary:
        return "empty"
    if any(re.search(_STUB, text, re.IGNORECASE) for text in (summary, details)):
        return "stub_echo"
    reason = _why(summary)
    if reason in ("acknowledgement", "fragment") and _word_count(details) >= 5 and _why(details) is None:
        return None
    return reason


def _why(text: str) -> str | None:
    plain = text.strip(" \t\n*_`>#-–—•'\"“”")
    first = re.match(r"[\W_]*([^\W\d_]+(?:'m)?|)", text.casefold())
    head = first[1] if first else ""
    if _starts(_HARNESS, text) or _starts(_HARNESS, plain):
        return "boilerplate"
    noisy = head in _NOISY or not head or not head.isascii() or "$" in text[:3]
    if noisy and _starts(rf"\W*(?:{_NOISE})\W*\Z", text):
        return "boilerplate"
    refusing = head in _REFUSING or not head.isascii() or "nothing" in plain[:80].lower()
    if refusing and _starts(_REFUSALS, plain):
        return "refusal"
    if _is_json(text):
        return "json_shrapnel"
    words = re.findall(_A_WORD, text)
    if not words:
        return "fragment"
    said = (len(words) <= 15 and _starts(_ANNOUNCED, plain)) or (len(words) <= 8 and _starts(_THANKS, plain))
    if said or _is_polite(text, words):
        return "acknowledgement"
    return "fragment" if _is_fragment(text, words) else None


def _starts(expression: str, text: str) -> bool:
    return bool(re.match(expression, text, re.IGNORECASE))


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
    torn = bool(re.match(_KEY, text)) or (marks >= 0.2 * len(text) and bool(re.search(r'[}\]{\[]|":', text)))
    return torn and not re.search(_SENTENCE, re.sub(r'"[^"\n]{0,400}"', " ", text))


def _is_polite(text: str, words: list[str]) -> bool:
    if len(words) <= 12 and _POLITE_RUN.match("".join(c for c in text if unicodedata.category(c)[0] in "LM")):
        return True
    tokens = [token for token in re.split(_BETWEEN, text.casefold()) if any(map(str.isalnum, token))]
    known = all(token in _POLITE or token in _COMPANY for token in tokens)
    return known and len(tokens) <= 12 and any(token in _POLITE for token in tokens)


def _is_fragment(text: str, words: list[str]) -> bool:
    """Too little to say anything, or broken off."""
    unspaced = 0 if text.isascii() else len(re.findall(_UNSPACED, text))
    if unspaced:
        return unspaced < 4 and sum(map(len, words)) < 8
    tokens = text.split()
    lowered = {word.casefold() for word in words}
    if len(words) == 1 or max(map(len, words)) == 1 or lowered <= _LITTLE or lowered <= _FILLER:
        return True
    if all(map(_is_place, tokens)) or (len(tokens) <= 12 and re.search(_DANGLING, text)):
        return True
    elided = len(tokens) <= 4 and text.endswith(("...", "…"))
    return elided or (len(tokens) <= 8 and bool(re.search(_CODE_LINE, text)))


def _is_place(token: str) -> bool:
    """A path or an address: by itself it says nothing."""
    return bool(re.fullmatch(r"\w+://\S+|[\w.@~-]*/[\w./@~:-]*|[\w.-]+\.[a-z]{1,4}", token))


def _word_count(text: str) -> int:
    """How many words ``text`` has; two characters of a script without blanks count as one."""
    unspaced = 0 if text.isascii() else len(re.findall(_UNSPACED, text))
    return len(re.findall(r"[^\W\d_]{2,}", text)) + unspaced // 2
