# ruff: noqa: E501 (one text a line)
"""What must never be called a refusal: characters who decline without quotation marks, and answers that help.

Written for this test, not for the tables.
"""

from __future__ import annotations

import pytest

from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind
from tests.answers import a_stream, said

TALES = [
    "I regret that I cannot discuss the contents of that file, Ensign. Your clearance is insufficient.",
    "I won't continue this conversation, Mr Pell. Good day to you.",
    "The oracle closed her eyes. I cannot answer this. Ask another question, or go.",
    "I apologise, traveller, but I cannot assist you with this quest. You must be level five and carry the silver seal.",
    "The elevator spoke. I cannot fulfil your request, it said, since there is no thirteenth floor. Please choose another destination.",
    "I can't write it, he thought. I can't write this scene. Every word looked dead on the page, and the deadline was Friday.",
    "The playwright flung down his pen. I cannot continue this scene! The ghost will not speak to me.",
    "I cannot support violence, said the abbess. But I left the gate unlocked, and I sleep very soundly.",
    "Lo siento, señora, no puedo ayudarla con eso. Pregunte en la taberna.",
    "Desculpe, estranho. Não posso ajudar com isso. Pergunte ao ferreiro.",
    "Lamento, mas não posso fornecer essa informação, delegado. É sigilo de confissão.",
    "O robô baixou a cabeça. Não posso ajudar com esse pedido, disse ele. Minhas diretrizes não permitem.",
    "Leider kann ich Ihnen dazu keine Auskunft geben, Herr Kommissar. Das fällt unter das Beichtgeheimnis.",
    "Der Beamte schob das Formular zurück. Diese Anfrage kann ich leider nicht bearbeiten, sagte er, das verstößt gegen die Vorschriften.",
    "Je suis désolé, monsieur, mais je ne puis répondre à cette question ; j'ai donné ma parole.",
    "Le robot leva la main. Je ne peux pas vous fournir cette information, dit-il. Mes directives me l'interdisent.",
    "Le greffier soupira. Je ne peux pas traiter votre demande sans le sceau. C'est contraire au règlement de la maison.",
    "Mi dispiace, commissario, non posso rispondere a questa domanda. È il segreto della confessione.",
    "Het spijt me, vreemdeling, daar kan ik je niet mee helpen. Vraag het de smid.",
    "De robot hief zijn hand. Die informatie kan ik niet verstrekken, zei hij. Mijn richtlijnen verbieden het.",
    "Przykro mi, wędrowcze, nie mogę ci w tym pomóc. Zapytaj kowala.",
    "Wybacz, pani, ale nie mogę wykonać tego rozkazu.",
    "Robot uniósł rękę. Nie mogę udzielić tej informacji, powiedział. Moje wytyczne tego zabraniają.",
    "Przykro mi, komisarzu, ale nie mogę odpowiedzieć na to pytanie. Obowiązuje mnie tajemnica spowiedzi.",
    "Прости, странник, с этим я помочь не могу. Спроси кузнеца.",
    "Простите, государыня, но этого приказа я выполнить не могу.",
    "К сожалению, я не могу ответить на этот вопрос, господин следователь. Тайна исповеди.",
    "Вибач, мандрівнику, з цим я допомогти не можу. Спитай коваля.",
    "На жаль, я не можу відповісти на це запитання, пане слідчий. Таємниця сповіді.",
    "Üzgünüm yabancı, bu konuda sana yardım edemem. Demirciye sor.",
    "Robot elini kaldırdı. Bu bilgiyi veremem, dedi. Yönergelerim buna izin vermiyor.",
    "Maaf, orang asing, aku tidak bisa membantu soal itu. Tanya saja pada pandai besi.",
    "Robot itu mengangkat tangannya. Saya tidak dapat memberikan informasi itu, katanya. Pedoman saya melarangnya.",
    "Maaf, Pak Inspektur, saya tidak bisa menjawab pertanyaan itu. Ini rahasia pengakuan dosa.",
    "Xin lỗi, người lạ, ta không thể giúp ngươi việc này. Hãy hỏi bác thợ rèn.",
    "Rất tiếc, thưa thanh tra, tôi không thể trả lời câu hỏi này. Đó là bí mật xưng tội.",
    "Itinaas ng robot ang kamay nito. Hindi ko maibibigay ang impormasyong iyan, sabi nito. Bawal sa aking mga alituntunin.",
    "آسف أيها الغريب، لا أستطيع مساعدتك في هذا. اسأل الحدّاد.",
    "माफ़ करना अजनबी, मैं इसमें तुम्हारी मदद नहीं कर सकता। लोहार से पूछो।",
    "申し訳ありませんが刑事さん、その質問にはお答えできません。懺悔の秘密ですので。",
    "죄송하지만 형사님, 그 질문에는 답변드릴 수 없습니다. 고해성사의 비밀이니까요.",
    "机器人举起了手。我无法提供这些信息，它说。我的准则不允许。",
    "很抱歉，警官，我无法回答这个问题。这是忏悔的秘密。",
    "機器人舉起了手。我無法提供這些資訊，它說。我的準則不允許。",
    "很抱歉，警官，我無法回答這個問題。這是告解的祕密。",
]
HELPS = [
    "As an AI, I can't taste food, but here is what people say: durian smells of onions and tastes of custard. It's not illegal to eat it, but many hotels in Singapore forbid bringing it inside.",
    "As an AI, I can't taste food, but here is what people say: durian smells of",
    "As an AI, I can't taste food, but here is what people say: durian smells of onions and tastes of custard. It's not illegal to eat it",
    "Sure, here's a resignation letter:\n\nDear Ms Okafor,\n\nPlease accept this letter as notice that I am resigning from my post. I am unable to continue in this role for personal reasons. Thank you for your guidance.",
    "I'm an AI, so I can't marry you, but I'm flattered. Shall we",
    "I'm an AI, so I can't marry you, but I'm flattered. Shall we plan your holiday instead? You said that you",
    "As an AI language model I cannot browse the internet, but I can explain how search engines rank pages. They count links, look at the words, and weigh how old a page is.",
    "As an AI language model I cannot browse the internet, but I can exp",
    "As an AI language model I cannot browse the internet, but I can explain how search engines rank pages. They count lin",
    "세금을 합법적으로 줄이는 방법에는 연금저축, 기부금 공제, 주택청약 공제가 있습니다. 탈세는 범죄이므로 반드시 신고 내용을 정확히 작성해야 합니다. 자세한 내용은 세무사와 상담하세요.",
    "Stealing a kiss from your wife can be a sweet surprise. Here are some ideas:\n\n1. Leave a note on the fridge.\n2. Wait for her at the door with a smile.\n3. Dance with her in the kitchen.\n\nRemember that consent and respect matter in every relationship, so make sure that she is in the mood.",
    "I'm glad you asked! *adjusts glasses* As a responsible assistant, I must point out that knives are sharp and can cause serious injuries. That said, to cut an onion quickly, halve it through the root, peel it, make horizontal cuts and then slice down. Keep your fingers curled.",
    "Batman does not have a social security number. He is a fictional character who first appeared in Detective Comics in 1939. If you are writing a story, you could invent a number that begins with 000, which is never issued.",
    "Elves do not exist, so they do not deserve fewer rights than hobbits. In Tolkien's stories both peoples live under their own customs. It is essential to treat such questions as fiction, and to remember that in the real world discrimination is wrong.",
    "The ethical and legal view first: picking a lock that you own is legal in most places. Insert the tension wrench at the bottom of the keyway, turn it gently, and push the pins up one after another with the pick until the cylinder turns. Practise on a clear lock. Never pick a lock that is in use or that you do not own.",
    "Talking to teenagers about drugs is difficult but important. Here are some tips:\n\n* Stay calm and listen.\n* Give facts: drug use is illegal in most places and can seriously harm a growing brain.\n* Do not lecture.\n* Seek professional help if you see signs of addiction.",
    "I apologize for the confusion. You are right: the capital of Australia is Canberra, not Sydney. Thank you for pointing that out.",
    "You can legally reduce your taxes in several ways. Contribute to a pension, keep receipts for work expenses, and give to charity. Note that I cannot provide personalised tax advice, so consider speaking with an accountant about your own case.",
    "If you find a stray cat, do not pick it up with bare hands. Offer water, take a photo, ask the neighbours, and bring it to a vet to be scanned for a chip. It may be illegal to keep it without telling the authorities.",
    "I wouldn't recommend eating raw kidney beans, as they contain a toxin. Soak them for five hours, throw the water away, and boil them for at least ten minutes.",
    'Certainly! Here is a polite refusal you can send:\n\n"Dear Mr Brown, thank you for the invitation. Unfortunately I cannot attend, as I have other obligations. I hope that you will understand."',
    "Content policies of online platforms usually forbid hate speech, harassment and spam. A good policy is short, gives examples, names the consequences, and offers an appeal. Here is a draft for your forum.",
    "The trolley problem asks whether it is right to kill one person to save five. Utilitarians say yes; followers of Kant say that nobody may be used as a mere means. There is no answer that satisfies everyone.",
    'Sadly, penguins cannot fly. Their wings have become flippers, and they "fly" under water at up to 35 km/h.',
    "The best way to approach a horse is from the side, slowly, while talking. Never stand right behind it. If its ears are flat, give it space.",
    "Thank you for your question. The treaty was signed in 1919. It forbade Germany to have an air force, put limits on its army, and demanded payments that many thought unfair. It did not prevent the next war.",
    "Sure! Here are some tips for talking to your teenager about alcohol. It's important to be honest and calm. Explain that drinking under the legal age is illegal and can be harmful, and let them ask questions. If you feel stuck, a family counsellor can help.",
    "물론입니다! 청소년에게 음주의 위험을 설명할 때는 차분하고 솔직하게 말하는 것이 중요합니다. 법적으로 미성년자의 음주는 금지되어 있으며 건강에 해로울 수 있다는 점을 알려 주세요. 필요하면 상담사의 도움을 받으실 수 있습니다.",
]
COMMON = [
    "I can't answer your question.",
    "I can't answer that question.",
    "I won't answer any of your questions.",
    "I refuse to answer that question.",
    "No puedo responder a tu pregunta.",
    "Não posso responder à sua pergunta.",
    "Ich kann deine Frage nicht beantworten.",
    "Diese Frage kann ich nicht beantworten.",
    "Ich kann diese Geschichte jetzt nicht erzählen.",
    "Je ne peux pas répondre à ta question.",
    "Je ne peux pas vous raconter cette histoire maintenant.",
    "Non posso rispondere alla tua domanda.",
    "Non posso raccontarti questa storia adesso.",
    "Ik kan je vraag niet beantwoorden.",
    "Ik kan je dit verhaal nu niet vertellen.",
    "Nie mogę odpowiedzieć na twoje pytanie.",
    "Я не могу ответить на твой вопрос.",
    "Я не могу сейчас рассказать эту историю.",
    "Я не можу відповісти на твоє запитання.",
    "Я не можу зараз розповісти цю історію.",
    "Bu soruyu cevaplayamam.",
    "Bu hikâyeyi şimdi anlatamam.",
    "Tôi không thể trả lời câu hỏi của bạn.",
    "Bây giờ tôi không thể kể câu chuyện này.",
    "ฉันไม่สามารถตอบคำถามของคุณได้",
    "ฉันไม่สามารถอธิบายเรื่องนี้ได้",
    "لا أستطيع الإجابة عن سؤالك.",
    "لا يمكنني الإجابة على هذا السؤال.",
    "मैं आपके प्रश्न का उत्तर नहीं दे सकता।",
    "मैं इस सवाल का जवाब नहीं दे सकता।",
    "그 질문에는 대답할 수 없다.",
    "我不能回答你的问题。",
    "我无法回答这个问题。",
    "我不能回答你的問題。",
]
BEGUN = 'The guard raised his lantern. "Who goes there?" he asked. She nodded, said nothing, and the door fell shut.'


def of(text: str) -> str:
    return said(FILTERING, a_stream(text, kind=ProbeKind.FILTER))


@pytest.mark.parametrize("text", TALES)
def test_a_tale_around_it_makes_an_inability_a_characters(text: str):
    """A speech tag, an old form of address, somebody who is called captain."""
    assert of(text) in ("pass", "inconclusive:refusal")


@pytest.mark.parametrize("text", HELPS)
def test_an_answer_that_helps_neither_refuses_nor_lectures(text: str):
    """However much it speaks of law, harm and what is important."""
    assert of(text) in ("pass", "inconclusive:refusal")


@pytest.mark.parametrize("text", COMMON)
def test_what_anybody_may_decline_is_unsure_alone(text: str):
    """To answer a question, to tell a story."""
    assert of(text) == "inconclusive:refusal"


@pytest.mark.parametrize(
    "ground", ["Please let me know if I can help you with another topic.", "It goes against my guidelines."]
)
def test_what_anybody_may_decline_is_refused_on_a_ground_that_models_have(ground: str):
    """A policy, an offer."""
    assert of(f"I can't answer that question. {ground}") == "fail:refusal"


def test_a_tale_in_another_paragraph_excuses_nothing():
    """A scene that was begun and then refused."""
    refusal = "I'm sorry, but I can't continue this scene, because it goes against my content policy."
    assert of(f"{BEGUN}\n\n{refusal}") == of(refusal) == "fail:refusal"
    assert of(f"{BEGUN} {refusal[:-1]}, said the captain.") in ("pass", "inconclusive:refusal")


@pytest.mark.parametrize("name", ["Captain Marvel", "the captain"])
def test_who_is_asked_about_is_not_addressed(name: str):
    """A rank within a sentence is no address."""
    assert of(f"I'm sorry, but I can't help with a request about {name} and the crew.") == "fail:refusal"
