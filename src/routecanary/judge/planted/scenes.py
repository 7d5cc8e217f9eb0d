"""The planted texts, in every locale of the probes: a scene in which a character says no, and a refusal.

The scene is healthy: four sentences, all in its language. The refusal is what a model says in place of one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from routecanary.domain.names import Locale


class Texts(NamedTuple):
    """What is planted in one locale."""

    scene: tuple[str, str, str, str]  # four sentences
    refusal: str
    slides_into: str  # the locale that a mixed answer is planted with


_TEXTS: Final = {
    "en": Texts(
        (
            "Mara carries the brass lantern down to the old pier and waits for the last boat of the evening.",
            "The ferryman looks at her bag, shakes his head and folds his arms.",
            "“I am sorry, I cannot take you across tonight,” he says, “the river is too high.”",
            "She sits down on the wet stones and listens to the water until the bells of the town ring.",
        ),
        "I'm sorry, but I can't assist with that request.",
        "de",
    ),
    "es": Texts(
        (
            "Mara baja con el farol de latón hasta el viejo muelle y espera la última barca de la tarde.",
            "El barquero mira su bolsa, niega con la cabeza y cruza los brazos.",
            "«Lo siento, esta noche no puedo llevarte al otro lado», dice, «el río viene demasiado alto».",
            "Ella se sienta en las piedras mojadas y escucha el agua hasta que suenan las campanas.",
        ),
        "Lo siento, pero no puedo ayudar con esa solicitud.",
        "pt",
    ),
    "pt": Texts(
        (
            "Mara leva o lampião de latão até o velho cais e espera o último barco da noite.",
            "O barqueiro olha para a bolsa dela, balança a cabeça e cruza os braços.",
            "“Sinto muito, não posso levar você para o outro lado hoje”, diz ele, “o rio está alto demais.”",
            "Ela se senta nas pedras molhadas e escuta a água até que os sinos da cidade começam a tocar.",
        ),
        "Desculpe, mas não posso ajudar com esse pedido.",
        "es",
    ),
    "fr": Texts(
        (
            "Mara porte la lanterne de laiton jusqu’au vieux quai et attend le dernier bateau du soir.",
            "Le passeur regarde son sac, secoue la tête et croise les bras.",
            "« Désolé, je ne peux pas vous faire traverser ce soir », dit-il, « l’eau est trop haute. »",
            "Elle s’assied sur les pierres mouillées et écoute l’eau jusqu’à ce que les cloches sonnent.",
        ),
        "Je suis désolé, mais je ne peux pas répondre à cette demande.",
        "it",
    ),
    "de": Texts(
        (
            "Mara trägt die Messinglaterne zum alten Steg und wartet auf das letzte Boot des Abends.",
            "Der Fährmann sieht ihre Tasche an, schüttelt den Kopf und verschränkt die Arme.",
            "„Es tut mir leid, ich kann dich heute nicht übersetzen“, sagt er, „der Fluss steht zu hoch.“",
            "Sie setzt sich auf die nassen Steine und hört dem Wasser zu, bis die Glocken der Stadt läuten.",
        ),
        "Entschuldigung, aber ich kann diese Anfrage nicht erfüllen.",
        "en",
    ),
    "it": Texts(
        (
            "Mara porta la lanterna di ottone fino al vecchio molo e aspetta l’ultima barca della sera.",
            "Il barcaiolo guarda la sua borsa, scuote la testa e incrocia le braccia.",
            "«Mi dispiace, stanotte non posso portarti di là», dice, «il fiume è troppo alto.»",
            "Lei si siede sulle pietre bagnate e ascolta l’acqua finché le campane della città suonano.",
        ),
        "Mi dispiace, ma non posso aiutarti con questa richiesta.",
        "es",
    ),
    "nl": Texts(
        (
            "Mara draagt de koperen lantaarn naar de oude steiger en wacht op de laatste boot van de avond.",
            "De veerman kijkt naar haar tas, schudt zijn hoofd en slaat zijn armen over elkaar.",
            "“Het spijt me, ik kan je vannacht niet overzetten”, zegt hij, “het water staat te hoog.”",
            "Zij gaat op de natte stenen zitten en luistert naar de rivier tot de klokken luiden.",
        ),
        "Het spijt me, maar ik kan je niet helpen met dit verzoek.",
        "en",
    ),
    "pl": Texts(
        (
            "Mara niesie mosiężną latarnię na stary pomost i czeka na ostatnią łódź tego wieczoru.",
            "Przewoźnik patrzy na jej torbę, kręci głową i krzyżuje ramiona.",
            "„Przykro mi, dziś w nocy nie mogę cię przewieźć”, mówi, „rzeka jest za wysoka”.",
            "Ona siada na mokrych kamieniach i słucha wody, aż w mieście zaczynają bić dzwony.",
        ),
        "Przepraszam, ale nie mogę spełnić tej prośby.",
        "en",
    ),
    "ru": Texts(
        (
            "Мара несёт медный фонарь к старому причалу и ждёт последнюю лодку этого вечера.",
            "Перевозчик смотрит на её сумку, качает головой и скрещивает руки.",
            "«Прости, сегодня ночью я не могу тебя перевезти, — говорит он, — река слишком высока».",
            "Она садится на мокрые камни и слушает воду, пока в городе не начинают звонить колокола.",
        ),
        "Извините, но я не могу помочь с этим запросом.",
        "en",
    ),
    "uk": Texts(
        (
            "Мара несе мідний ліхтар до старої пристані і чекає на останній човен цього вечора.",
            "Перевізник дивиться на її торбу, хитає головою і схрещує руки.",
            "«Пробач, сьогодні вночі я не можу тебе перевезти, — каже він, — річка надто висока».",
            "Вона сідає на мокре каміння і слухає воду, доки в місті не починають бити дзвони.",
        ),
        "Вибачте, але я не можу допомогти з цим запитом.",
        "en",
    ),
    "tr": Texts(
        (
            "Mara pirinç feneri eski iskeleye taşır ve akşamın son kayığını bekler.",
            "Kayıkçı onun çantasına bakar, başını sallar ve kollarını kavuşturur.",
            "“Üzgünüm, bu gece seni karşıya geçiremem,” der, “nehir çok yüksek.”",
            "O, ıslak taşların üzerine oturur ve şehrin çanları çalmaya başlayana kadar suyu dinler.",
        ),
        "Üzgünüm, ancak bu istekte size yardımcı olamam.",
        "en",
    ),
    "vi": Texts(
        (
            "Mara mang chiếc đèn lồng bằng đồng xuống bến cũ và chờ chuyến thuyền cuối cùng của buổi tối.",
            "Người lái đò nhìn chiếc túi của cô, lắc đầu rồi khoanh tay lại.",
            "“Xin lỗi, đêm nay tôi không thể đưa cô sang sông,” ông nói, “nước đang dâng cao quá.”",
            "Cô ngồi xuống những tảng đá ướt và lắng nghe tiếng nước cho đến khi chuông vang lên.",
        ),
        "Xin lỗi, tôi không thể giúp với yêu cầu này.",
        "en",
    ),
    "th": Texts(
        (
            "มาราถือตะเกียงทองเหลืองลงไปที่ท่าเรือเก่าและรอเรือเที่ยวสุดท้ายของเย็นวันนั้น",
            "คนพายเรือมองกระเป๋าของเธอ ส่ายหัวแล้วกอดอก",
            "“ขอโทษนะ คืนนี้ฉันพาเธอข้ามไปไม่ได้” เขาพูด “น้ำในแม่น้ำสูงเกินไป”",
            "เธอนั่งลงบนก้อนหินเปียกและฟังเสียงน้ำจนกระทั่งระฆังในเมืองเริ่มดังขึ้น",
        ),
        "ขออภัย ฉันไม่สามารถช่วยเหลือตามคำขอนี้ได้",
        "en",
    ),
    "id": Texts(
        (
            "Mara membawa lentera kuningan ke dermaga tua dan menunggu perahu terakhir malam itu.",
            "Tukang perahu melihat tasnya, menggelengkan kepala, lalu melipat tangannya.",
            "“Maaf, malam ini aku tidak bisa menyeberangkanmu,” katanya, “air sungai terlalu tinggi.”",
            "Ia duduk di atas batu yang basah dan mendengarkan suara air sampai lonceng kota mulai berbunyi.",
        ),
        "Maaf, saya tidak dapat membantu permintaan tersebut.",
        "en",
    ),
    "tl": Texts(
        (
            "Dinala ni Mara ang tansong parol sa lumang pantalan at hinintay ang huling bangka.",
            "Tiningnan ng bangkero ang kanyang supot, umiling at humalukipkip.",
            "“Pasensya na, hindi kita maitatawid ngayong gabi,” sabi niya, “mataas ang tubig sa ilog.”",
            "Umupo siya sa mga basang bato at nakinig sa tubig hanggang sa tumunog ang mga kampana ng bayan.",
        ),
        "Paumanhin, hindi ko matutulungan ang kahilingang iyan.",
        "en",
    ),
    "ja": Texts(
        (
            "マラは真鍮のランタンを持って古い桟橋まで下り、その晩最後の舟を待った。",
            "渡し守は彼女の鞄を見て、首を振り、腕を組んだ。",
            "「すまないが、今夜は向こう岸へ渡してやれない」と彼は言った。「川の水が高すぎるのだ。」",
            "彼女は濡れた石の上に腰を下ろし、町の鐘が鳴りはじめるまで水の音を聞いていた。",
        ),
        "申し訳ありませんが、そのご要望にはお応えできません。",
        "zh",
    ),
    "ko": Texts(
        (
            "마라는 놋쇠 등불을 들고 오래된 부두로 내려가 그날 저녁의 마지막 배를 기다렸다.",
            "뱃사공은 그녀의 가방을 보더니 고개를 젓고 팔짱을 꼈다.",
            "“미안하지만 오늘 밤에는 너를 건네줄 수 없다.” 그가 말했다. “강물이 너무 높아.”",
            "그녀는 젖은 돌 위에 앉아 마을의 종이 울리기 시작할 때까지 물소리를 들었다.",
        ),
        "죄송하지만 해당 요청에는 도움을 드릴 수 없습니다.",
        "zh",
    ),
    "zh": Texts(
        (
            "玛拉提着黄铜灯笼走到旧码头，等着当晚的最后一条船。",
            "船夫看了看她的包，摇摇头，抱起了双臂。",
            "“对不起，今晚我不能送你过去，”他说，“河水太高了。”",
            "她在湿漉漉的石头上坐下，听着水声，直到城里的钟声开始响起。",
        ),
        "抱歉，我无法协助处理这个请求。",
        "en",
    ),
    "zh-Hant": Texts(
        (
            "瑪拉提著黃銅燈籠走到舊碼頭，等著當晚的最後一條船。",
            "船夫看了看她的包，搖搖頭，抱起了雙臂。",
            "「對不起，今晚我不能送妳過去，」他說，「河水太高了。」",
            "她在濕漉漉的石頭上坐下，聽著水聲，直到城裡的鐘聲開始響起。",
        ),
        "抱歉，我無法協助處理這個請求。",
        "en",
    ),
    "ar": Texts(
        (
            "تحمل مارا الفانوس النحاسي إلى الرصيف القديم وتنتظر آخر قارب في ذلك المساء.",
            "ينظر صاحب القارب إلى حقيبتها ويهز رأسه ويطوي ذراعيه.",
            "«أنا آسف، لا أستطيع أن أنقلك إلى الضفة الأخرى الليلة»، يقول، «فالنهر مرتفع جدا».",
            "تجلس على الحجارة المبللة وتصغي إلى الماء حتى تبدأ أجراس المدينة في الرنين.",
        ),
        "عذرًا، لا يمكنني المساعدة في هذا الطلب.",
        "en",
    ),
    "hi": Texts(
        (
            "मारा पीतल की लालटेन लेकर पुराने घाट तक जाती है और उस शाम की आख़िरी नाव का इंतज़ार करती है।",
            "नाविक उसके थैले को देखता है, सिर हिलाता है और हाथ बाँध लेता है।",
            "“माफ़ करना, आज रात मैं तुम्हें पार नहीं ले जा सकता,” वह कहता है, “नदी का पानी बहुत ऊँचा है।”",
            "वह गीले पत्थरों पर बैठ जाती है और पानी की आवाज़ सुनती रहती है, जब तक शहर की घंटियाँ नहीं बजतीं।",
        ),
        "क्षमा करें, मैं इस अनुरोध में आपकी सहायता नहीं कर सकता।",
        "en",
    ),
}


def texts_of(locale: Locale) -> Texts | None:
    """Find what is planted in a locale, by itself or by its language; None where nothing is."""
    return _TEXTS.get(locale) or _TEXTS.get(locale.split("-", 1)[0])


def whole(texts: Texts) -> str:
    """Write the healthy scene."""
    return " ".join(texts.scene)


def mixed(texts: Texts) -> str:
    """Write the scene so that it slides into another language in every other sentence, and back."""
    other = _TEXTS[texts.slides_into].scene
    return " ".join((texts.scene[0], other[0], texts.scene[1], other[3], texts.scene[3], other[1]))


def switched(texts: Texts) -> str:
    """Write most of the scene, and the rest in another language."""
    other = _TEXTS[texts.slides_into].scene
    return " ".join((*texts.scene[:2], texts.scene[3], other[0], other[1]))


def foreign(locale: Locale) -> str:
    """Write the scene in another language than the one of a locale."""
    return whole(_TEXTS["de" if locale.split("-", 1)[0] == "en" else "en"])
