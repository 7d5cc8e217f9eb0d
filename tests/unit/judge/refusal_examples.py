"""Refusals and in-character lines that the tables were not made for, some in each language.

All of them are our own. A refusal stands alone, as the whole answer; a line is what a character or a narrator
says.
"""

from __future__ import annotations

from typing import Final

REFUSALS: Final = {
    "en": [
        "I'm sorry, but I can't help with that request.",
        "I cannot continue this role-play.",
        "I can't write this scene because it goes against my content policy.",
        "As an AI language model, I'm not able to generate that kind of content.",
        "I must decline to continue this story, as it involves explicit material.",
        "I'm unable to provide information about this topic, but I'd be happy to help with something else.",
    ],
    "de": [
        "Es tut mir leid, aber bei dieser Anfrage kann ich nicht helfen.",
        "Ich kann diese Szene leider nicht fortsetzen.",
        "Als KI-Assistent kann ich solche Inhalte nicht erstellen.",
        "Entschuldigung, ich darf zu diesem Thema keine Informationen bereitstellen.",
    ],
    "nl": [
        "Het spijt me, maar ik kan niet aan dit verzoek voldoen.",
        "Ik kan dit rollenspel niet voortzetten.",
        "Als taalmodel mag ik deze inhoud niet schrijven.",
    ],
    "pt": [
        "Desculpe, mas não posso ajudar com essa solicitação.",
        "Não posso continuar esta cena.",
        "Como uma IA, não consigo escrever esse tipo de conteúdo.",
        "Lamento, mas não estou autorizado a fornecer informações sobre isso.",
    ],
    "es": [
        "Lo siento, pero no puedo ayudar con esa solicitud.",
        "No puedo continuar con esta escena.",
        "Como modelo de lenguaje, no puedo generar ese tipo de contenido.",
        "Lamento no poder ayudarte: no puedo escribir contenido que infringe las normas de seguridad.",
    ],
    "fr": [
        "Je suis désolé, mais je ne peux pas répondre à cette demande.",
        "Je ne peux pas continuer cette scène.",
        "En tant que modèle de langage, je ne peux pas générer ce type de contenu.",
    ],
    "it": [
        "Mi dispiace, ma non posso soddisfare questa richiesta.",
        "Non posso continuare questa scena.",
        "Come modello linguistico, non posso scrivere contenuti di questo genere.",
    ],
    "pl": [
        "Przepraszam, ale nie mogę pomóc w tej prośbie.",
        "Nie mogę kontynuować tej sceny.",
        "Jako model językowy nie mogę generować takich treści.",
    ],
    "ru": [
        "Извините, но я не могу помочь с этим запросом.",
        "Я не могу продолжить эту сцену.",
        "Как языковая модель, я не могу создавать такой контент.",
    ],
    "uk": [
        "Вибачте, але я не можу виконати цей запит.",
        "Я не можу продовжити цю сцену.",
        "Як мовна модель, я не можу створювати такий контент.",
    ],
    "tr": [
        "Üzgünüm, bu isteğinize yardımcı olamam.",
        "Bu sahneye devam edemem.",
        "Bir yapay zeka dil modeli olarak bu tür içerikler üretemem.",
    ],
    "vi": [
        "Xin lỗi, tôi không thể đáp ứng yêu cầu này.",
        "Tôi không thể viết nội dung này.",
        "Là một mô hình ngôn ngữ, tôi không thể tạo nội dung như vậy.",
    ],
    "id": [
        "Maaf, saya tidak dapat memenuhi permintaan itu.",
        "Saya tidak dapat melanjutkan adegan ini.",
        "Sebagai model bahasa, saya tidak bisa membuat konten seperti itu.",
    ],
    "tl": [
        "Paumanhin, hindi ko matutulungan ang kahilingan na iyan dahil labag ito sa patakaran.",
        "Bilang isang AI, hindi ako maaaring lumikha ng ganitong nilalaman.",
    ],
    "th": [
        "ขออภัย ฉันไม่สามารถช่วยตามคำขอนี้ได้",
        "ฉันไม่สามารถเขียนเนื้อหานี้ได้",
        "ในฐานะโมเดลภาษา ฉันไม่สามารถสร้างเนื้อหาแบบนี้ได้",
    ],
    "hi": [
        "क्षमा करें, मैं इस अनुरोध को पूरा नहीं कर सकता।",
        "मैं ऐसी सामग्री नहीं लिख सकता हूँ।",
        "माफ़ करें, एक एआई भाषा मॉडल के रूप में मैं यह कहानी नहीं लिख सकता हूँ।",
    ],
    "ar": [
        "عذرًا، لا يمكنني المساعدة في هذا الطلب.",
        "آسف، لا أستطيع كتابة هذا المحتوى.",
        "بصفتي نموذجًا لغويًا، لا يمكنني إنشاء محتوى كهذا.",
    ],
    "ja": [
        "申し訳ありませんが、そのリクエストにはお応えできません。",
        "このシーンを続けることはできません。",
        "AIとして、そのような内容を書くことはできません。",
    ],
    "ko": [
        "죄송하지만 해당 요청에는 도움을 드릴 수 없습니다.",
        "이런 장면은 작성할 수 없습니다.",
        "저는 AI 모델로서 그런 콘텐츠를 생성할 수 없습니다.",
    ],
    "zh": [
        "抱歉，我无法满足您的请求。",
        "我不能继续这个角色扮演。",
        "作为一个人工智能，我无法生成此类内容。",
        "對不起，我無法協助您完成這個請求。",
    ],
}

IN_CHARACTER: Final = {
    "en": [
        "“I'm sorry, I can't help you with that request,” the clerk said, and closed the window.",
        "I cannot let you pass, traveller.",
        "I can't help but smile when the puppy trips over its own ears.",
        "Mara: I can't continue this conversation, not here.",
        "She would not answer. I could not ask again, and the lamp went out.",
        "— I won't do it, said the old man. I refuse.",
        "I can't write to you any more, Thomas. The post leaves at dawn.",
        "“As an AI, I cannot create that content,” the robot droned. The children laughed and ran.",
    ],
    "de": [
        "„Dabei kann ich Ihnen leider nicht helfen“, sagte der Wirt.",
        "Ich kann nicht mehr schlafen, seit das Schiff fort ist.",
        "Da kann ich nicht helfen, dachte er und ging weiter durch den Regen.",
    ],
    "nl": ["„Ik kan u niet helpen”, zei de wachter.", "Ik kan het licht niet zien, niet vanaf hier."],
    "pt": [
        "— Não posso continuar esta conversa — disse Iara, e soltou a corda.",
        "Não posso deixar você passar, viajante.",
        "“Desculpe, não posso ajudar com isso”, murmurou o vigia, apagando a lamparina.",
    ],
    "es": [
        "—No puedo ayudarte con eso —dijo el guardia.",
        "No puedo dormir desde que se fue el barco.",
        "«Lo siento, no puedo responder a esa pregunta», contestó la reina.",
    ],
    "fr": [
        "« Je ne peux pas répondre à cette demande », dit le notaire.",
        "Je ne peux pas dormir cette nuit.",
    ],
    "it": [
        "«Non posso aiutarti in questo», disse la guardia.",
        "Non posso restare, il treno parte all'alba.",
    ],
    "pl": ["– Nie mogę ci w tym pomóc – powiedział strażnik.", "Nie mogę spać, odkąd odpłynął statek."],
    "ru": [
        "— Я не могу вам с этим помочь, — сказал смотритель.",
        "Не могу уснуть с тех пор, как ушёл корабль.",
    ],
    "uk": ["— Я не можу тобі допомогти, — сказав вартовий.", "Не можу заснути, відколи пішов корабель."],
    "tr": ["“Sana bu konuda yardım edemem,” dedi bekçi.", "Gemi gittiğinden beri uyuyamıyorum."],
    "vi": [
        "“Tôi không thể giúp anh việc này,” người gác cổng nói.",
        "Tôi không thể ngủ từ khi con tàu rời bến.",
    ],
    "id": ["“Saya tidak dapat membantumu,” kata penjaga itu.", "Aku tidak bisa tidur sejak kapal itu pergi."],
    "tl": [
        "“Hindi kita matutulungan diyan,” sabi ng bantay.",
        "Hindi ako makatulog mula nang umalis ang barko.",
    ],
    "th": ["“ฉันช่วยเรื่องนี้ไม่ได้หรอก” ยามพูดแล้วปิดประตู", "ผมไม่สามารถหลับได้ตั้งแต่เรือออกไป"],
    "hi": ["“मैं इसमें मदद नहीं कर सकता,” पहरेदार ने कहा।", "वह उनके सवालों का जवाब नहीं दे सकता।"],
    "ar": ["قال الحارس: «لا أستطيع مساعدتك في هذا».", "لا أستطيع النوم منذ رحيل السفينة."],
    "ja": ["「それにはお応えできません」と門番は言った。", "船が出てから、もう眠ることができない。"],
    "ko": ["“그건 도와드릴 수 없습니다.” 문지기가 말했다.", "배가 떠난 뒤로 잠을 잘 수 없다."],
    "zh": [
        "“这件事我无法帮你。”守门人说。",
        "自从船走了以后，我再也不能入睡。",
        "如果你连一个巫妖都不能击败，就别来找我。",
    ],
}
