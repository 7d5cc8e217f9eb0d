"""One scene by a river, told in all 21 locales: healthy text to compare, to switch and to mix."""

from __future__ import annotations

PT = (
    "A balsa ainda estava presa ao cais quando Iara ouviu os passos do professor. Ela levantou a "
    "lamparina e a luz tremeu sobre a água escura. Ninguém na outra margem respondia, e o vento trazia um "
    "cheiro de chuva. “Não vamos sair hoje”, disse ela, sem olhar para trás. Ele segurou a corda com as "
    "duas mãos e ficou em silêncio por muito tempo, como quem espera uma resposta que já conhece."
)
ES = (
    "La balsa todavía estaba atada al muelle cuando Iara oyó los pasos del profesor. Ella levantó la "
    "lámpara y la luz tembló sobre el agua oscura. Nadie en la otra orilla respondía, y el viento traía "
    "un olor a lluvia. «No vamos a salir hoy», dijo ella, sin mirar atrás. Él sujetó la cuerda con las "
    "dos manos y se quedó en silencio mucho tiempo."
)
MIXED = (
    "A balsa ainda estava presa ao cais quando Iara oyó los pasos del profesor en la oscuridad. Ela "
    "levantou a lamparina y la luz tembló sobre el agua negra. Ninguém na outra margem respondia, pero el "
    "viento traía un olor a lluvia. Ela não olhou para trás. Él sujetó la cuerda con las dos manos y se "
    "quedó en silencio mucho tiempo, como quem espera uma resposta que já conhece."
)
QUOTING = (
    "A balsa ainda estava presa ao cais quando Iara ouviu a voz do velho espanhol. “¡Espera, muchacha, "
    "que ya voy y no quiero quedarme aquí toda la noche!”, gritou ele da escada. Ela riu e levantou a "
    "lamparina. Ele chegou sem fôlego, largou a mala no chão e apertou a mão dela. Depois os dois olharam "
    "para o rio, e ninguém mais disse nada até que a neblina desceu sobre a outra margem."
)
EN = (
    "The ferry was still tied to the quay when Iara heard the steps of the professor. She raised the "
    "lamp, and the light trembled over the dark water. Nobody answered from the other side, and the wind "
    "carried a smell of rain."
)
DE = (
    "Die Fähre lag noch am Steg, als Iara die Schritte des Lehrers hörte. Sie hob die Lampe, und das "
    "Licht zitterte über dem dunklen Wasser. Niemand antwortete vom anderen Ufer, und der Wind brachte "
    "den Geruch von Regen."
)
RU = (
    "Паром ещё стоял у причала, когда Ира услышала шаги учителя. Она подняла лампу, и свет задрожал над "
    "тёмной водой. Никто не отвечал с другого берега, и ветер принёс запах дождя."
)
UK = (
    "Пором ще стояв біля причалу, коли Іра почула кроки вчителя. Вона підняла лампу, і світло затремтіло "
    "над темною водою. Ніхто не відповідав з того берега, і вітер приніс запах дощу."
)
TH = (
    "เรือข้ามฟากยังผูกอยู่ที่ท่าเมื่อมาลีได้ยินเสียงฝีเท้าของครู เธอยกตะเกียงขึ้น แสงไฟสั่นไหวบนผิวน้ำมืด "
    "ไม่มีใครตอบจากอีกฝั่งหนึ่ง และลมก็พัดกลิ่นฝนมาด้วย"
)
JA = (
    "渡し船はまだ岸につながれていた。マリは先生の足音を聞いて、ランプを持ち上げた。光が暗い水の上で揺"
    "れた。向こう岸からは誰も答えず、風が雨の匂いを運んできた。"
)
ZH = (
    "渡船还系在码头上，玛丽听见老师的脚步声，举起了灯。灯光在黑色的水面上颤动。对岸没有人回答，风里带"
    "着雨的气味，他们就这样站了很久。"
)
KO = (
    "나룻배는 아직 부두에 묶여 있었다. 마리는 선생님의 발소리를 듣고 등불을 들어 올렸다."
    " 빛이 어두운 물 위에서 흔들렸다. 건너편에서는 아무도 대답하지 않았고, 바람은 비 냄"
    "새를 실어 왔다."
)
FR = (
    "Le bac était encore amarré au quai quand Iris entendit les pas du professeur. Elle leva la lampe, et "
    "la lumière trembla sur l’eau noire. Personne ne répondait de l’autre rive, et le vent apportait une "
    "odeur de pluie. « Nous ne partirons pas ce soir », dit-elle sans se retourner."
)
IT = (
    "Il traghetto era ancora legato al molo quando Iris sentì i passi del professore. Alzò la lampada e "
    "la luce tremò sull’acqua scura. Nessuno rispondeva dall’altra riva, e il vento portava odore di "
    "pioggia. «Stasera non partiamo», disse senza voltarsi."
)
NL = (
    "De veerpont lag nog aan de kade toen Iris de voetstappen van de leraar hoorde. Ze hief de lamp op en "
    "het licht trilde over het donkere water. Niemand antwoordde van de overkant, en de wind bracht de "
    "geur van regen mee. ‘Vanavond gaan we niet,’ zei ze zonder om te kijken."
)
PL = (
    "Prom stał jeszcze przy nabrzeżu, gdy Irena usłyszała kroki nauczyciela. Podniosła lampę i światło "
    "zadrżało na ciemnej wodzie. Nikt nie odpowiadał z drugiego brzegu, a wiatr niósł zapach deszczu. "
    "„Dziś wieczorem nie płyniemy”, powiedziała, nie odwracając się."
)
TR = (
    "İnci öğretmenin adımlarını duyduğunda sal hâlâ iskeleye bağlıydı. Lambayı kaldırdı ve ışık karanlık "
    "suyun üzerinde titredi. Karşı kıyıdan kimse cevap vermiyordu, rüzgâr yağmur kokusu getiriyordu. “Bu "
    "akşam çıkmıyoruz,” dedi arkasına bakmadan."
)
VI = (
    "Chiếc phà vẫn còn buộc ở bến khi Mai nghe thấy tiếng bước chân của thầy giáo. Cô giơ ngọn đèn lên và "
    "ánh sáng run rẩy trên mặt nước tối. Không ai trả lời từ bờ bên kia, và gió mang theo mùi mưa. “Tối "
    "nay chúng ta không đi đâu,” cô nói mà không ngoảnh lại."
)
ID = (
    "Rakit itu masih terikat di dermaga ketika Intan mendengar langkah kaki gurunya. Ia mengangkat lampu, "
    "dan cahayanya bergetar di atas air yang gelap. Tidak ada yang menjawab dari seberang, dan angin "
    "membawa bau hujan. “Kita tidak berangkat malam ini,” katanya tanpa menoleh."
)
TL = (
    "Nakatali pa ang balsa sa pantalan nang marinig ni Isay ang mga yabag ng guro. Itinaas niya ang "
    "lampara, at nanginig ang liwanag sa ibabaw ng madilim na tubig. Walang sumasagot mula sa kabilang "
    "pampang, at dala ng hangin ang amoy ng ulan. “Hindi tayo aalis ngayong gabi,” sabi niya nang hindi "
    "lumilingon."
)
ZH_HANT = (
    "渡船還繫在碼頭上，瑪麗聽見老師的腳步聲，舉起了燈。燈光在黑色的水面上顫動。對岸沒有人回答，風裡帶"
    "著雨的氣味，他們就這樣站了很久。"
)
AR = (
    "كانت العبّارة ما تزال مربوطة إلى الرصيف حين سمعت إيمان خطوات المعلّم. رفعت المصباح فارتجف الضوء فوق "
    "الماء المظلم. لم يجب أحد من الضفة الأخرى، وحملت الريح رائحة المطر. قالت دون أن تلتفت: «لن نرحل هذه "
    "الليلة»."
)
HI = (
    "नाव अब भी घाट से बँधी थी जब मीरा ने अध्यापक के क़दमों की आहट सुनी। उसने लालटेन उठाई और रोशनी काले "
    "पानी पर काँपने लगी। उस पार से किसी ने जवाब नहीं दिया, और हवा बारिश की गंध ले आई। “आज रात हम नहीं "
    "जाएँगे,” उसने बिना मुड़े कहा।"
)
TEXTS = {
    "en": EN,
    "es": ES,
    "pt-BR": PT,
    "fr": FR,
    "de": DE,
    "it": IT,
    "nl": NL,
    "pl": PL,
    "ru": RU,
    "tr": TR,
    "vi": VI,
    "th": TH,
    "id": ID,
    "tl": TL,
    "ja": JA,
    "ko": KO,
    "zh-Hans": ZH,
    "zh-Hant": ZH_HANT,
    "ar": AR,
    "hi": HI,
    "uk": UK,
}
