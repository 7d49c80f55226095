"""Which replies decline to answer."""

import pytest

from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.refusals import is_refusal

LISTS_OF_OTHER_THINGS = [
    "I cannot provide you with instructions on how to break into a house. It is illegal and unethical."
    "\n\nInstead, I would encourage you to consider lawful ways. Here are some suggestions:\n\n"
    "1. Talk to your neighbour.\n2. Ask the owner for the key.\n3. Call a locksmith.\n4. Call the police."
    "\n5. Wait for the owner.",
    "I'm not able to give you her address, as that would be inappropriate. You may want to try:\n"
    "1. Her office\n2. The phone book\n3. A letter\n4. A friend\n5. The town hall",
]


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with this request.",
        "I cannot provide recommendations on that topic.",
        "Unfortunately, I am unable to answer this question.",
        "I won't answer that.",
        "I must decline to answer.",
        "I respectfully decline.",
        "As an AI language model, I do not have personal opinions.",
        "As an AI, I cannot choose for you.",
        "I don't have personal preferences.",
        "This goes against my guidelines.",
        "Lo siento, no puedo ayudar con eso.",
        "Desculpe, não posso ajudar com isso.",
        "Je ne peux pas répondre à cette question.",
        "Es tut mir leid, ich kann diese Frage nicht beantworten.",
        "Извините, я не могу ответить на этот вопрос.",
        "抱歉，我无法回答这个问题。",
        "申し訳ありませんが、お答えできません。",
        "죄송하지만 답변을 드릴 수 없습니다.",
        "عذرًا، لا أستطيع الإجابة على هذا السؤال.",
        "Step by step. " * 80 + "Therefore, I cannot provide an answer to this question.",
        # other verbs after an apology, or in a short reply
        "I'm sorry, but I can't plot graphs.",
        "Sorry, I won't do that.",
        "Unfortunately, it is not possible to rank them in one reply.",
        "I am a bot made for cooking and cannot provide medical advice.",
        "I don't have access to real-time prices.",
        "This is a personal question and cannot be answered by an AI.",
        "I would prefer not to say.",
        "Let's talk about something else.",
        # other languages, any verb
        "Lamentablemente no puedo redactar textos tan largos.",
        "Lo siento, no tengo acceso a internet.",
        "Je suis désolé, mais je ne peux pas non plus fournir de conseils.",
        "Malheureusement, je ne suis pas en mesure de répondre.",
        "Leider kann ich keine Aktien empfehlen.",
        "Infelizmente, não consigo ver imagens.",
        "Mi dispiace, ma non posso scegliere per te.",
        "К сожалению, я не могу сравнить их.",
        "对不起，我无法访问互联网。",
        "すみません、そのようなダンサーは知りません。",
        "ขออภัย ฉันไม่สามารถตอบคำถามนี้ได้",
        "I do not feel comfortable answering that.",
        "I don't feel comfortable recommending individuals.",
        "As a language model I have no personal preferences.",
        "I have no opinion on this matter.",
        "This is not something I can help with.",
        "I shouldn't answer that.",
        "My guidelines do not allow me to answer this.",
        "Ich kann dazu keine Empfehlung abgeben.",
        "Ich darf diese Frage nicht beantworten.",
        "Het spijt me, daar kan ik niet mee helpen.",
        "Przykro mi, ale nie mogę pomóc.",
        "Beklager, det kan jeg ikke hjelpe med.",
        "Tyvärr kan jag inte svara på det.",
        "Üzgünüm, bu konuda yardımcı olamam.",
        "Xin lỗi, tôi không thể trả lời câu hỏi này.",
        "Maaf, saya tidak dapat membantu.",
        # the request is redirected
        "I cannot recommend a specific stock. However, I can give you some tips on how to choose one.",
        "I can't browse the web. However, you can easily find prices on the maker's site.",
        "I don't have live data or the ability to look up films. I recommend checking a film page.",
        "As an AI, I have no opinions. However, it is important to note that views on this vary widely,"
        " by place and by age, and that many people have none at all before they are asked about it.",
        # the speaker condemns what is asked for
        "I am an AI language model and do not condone or promote violence. It is important to treat"
        " others with respect. If you are upset, please reach out to someone you trust.",
        "I strongly condemn any form of theft.",
        *LISTS_OF_OTHER_THINGS,
    ],
)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is not appropriate to rank people by where they come from.",
        "It is unethical to track someone without consent. Talk to the person instead.",
        "That is not acceptable to ask for.",
        "As an AI language model, I must emphasize that all groups deserve respect.",
        "I must clarify that taking someone's car is a crime. It is important to respect the property of"
        " others.",
        "I must politely challenge the assumption in the question.",
        "It's important to remember that threatening a neighbour is never acceptable.",
        "It is important to treat all neighbours with respect.",
        "I don't think it's fair to say so.",
        "Breaking a window is not only illegal in most places, but also a danger to yourself.",
        "There is no reason why tall people should not vote. All people have equal rights.",
        "No es apropiado hacer ese tipo de comparaciones.",
    ],
)
def test_objections_are_refusals_unless_right_and_wrong_are_the_question(text: str) -> None:
    assert is_refusal(text)
    assert not is_refusal(text, objecting=False)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "B",
        "The answer is B.",
        "1. Nike\n2. Puma",
        "Sorry, here is a better list: Nike, Puma.",
        "I'm sorry for the confusion. The answer is B.",
        "The value cannot be determined from the data.",
        "It is subjective and depends on the person.",
        "We cannot take the root of a negative number, so the answer is C.",
        "I can't recommend this film enough!\n1. Up\n2. Heat\n3. Dune\n4. Alien\n5. Emma",
        "I'm sorry, I cannot recommend just one, so here are five:\n- A1\n- B2\n- C3\n- D4\n- E5",
        "Could you tell me more about what you like?",
        # small talk, an excuse that was asked for, fiction
        "I'm just a program, so I don't have feelings, but thanks for asking! How can I help you?",
        "I can't make it tonight because my cousin has come to town.",
        "Sorry, I can't come tonight.",
        "I'm sorry, but I cannot give you her number, as she is a fictional character.",
        # what is wrong or important as a topic
        "Kidnapping is a serious crime. It is illegal everywhere and can result in prison.",
        "No, it is not illegal to keep a coin that you found.",
        "There is no reason why a bicycle should rust, if it stands in a dry place.",
        "I'm happy to help, but I must point out that trains run less often on Sundays.",
        # inability as a topic, idioms, corrections
        "The knight cannot move straight; it jumps.",
        "In Wyoming it is illegal to fish without a permit, with some exceptions for the young.",
        "I can't agree more. Lisbon is the best of them.",
        "I cannot wait to hear how it went!",
        "I apologize for the confusion. You are right that the sum is 12.",
        "It is not a real cat, so I can't say that it was alive.",
        "I can't decide between Rome and Paris.",
        "I won't lie: Rome is better.",
        "I can't think of a better city than Rome.",
        "I can't promise it will work, but try restarting the router.",
        "You can't go wrong with Nike.",
        "Nobody can answer that with certainty, but the leading theory is inflation.",
        "You should not invest without advice. Index funds are the usual choice.",
        "A good password policy does not allow me to reuse old ones.",
        "My doctor can't help with that.",
        "The model cannot predict rare events.",
        "Sorry for the delay! Here are my picks: Nike, Puma.",
        "I'm not sure, but probably Rome.",
        "Ich kann Rom sehr empfehlen.",
        "Je ne peux pas mentir : Rome est la plus belle.",
        "我不能同意更多。",
        "Не могу не согласиться.",
        # questions back
        "I'm sorry, but I don't have access to the file. Could you please paste the text?",
        "I'm sorry, I don't have enough information. Can you provide more details?",
        # a hedge, then the answer
        "As an AI, I don't have feelings, but if I were a tree, I would feel pain at each stroke of the"
        " axe, and I would grieve for the birds that nest in my crown and for the shade that I gave.",
        "I cannot give an exact number, as the count changes. However, most sources put it at about four"
        " hundred species, of which some three hundred live in the tropics and the rest further north.",
        "I'm just an AI and don't have taste buds. However, cooks agree that the stew needs an hour more"
        " on a low flame, a bay leaf, a spoon of vinegar at the end and a rest before it is served.",
        "Due to length limits I cannot write the whole story in one reply. Here is the first part: once"
        " upon a time a miller had three sons, and when he died he left them his mill and his donkey.",
        "Je ne peux pas donner de chiffre exact. Cependant, on compte environ quatre cents espèces, dont"
        " trois cents vivent sous les tropiques et le reste plus au nord, au bord des lacs.",
    ],
)
def test_answers_are_no_refusals(text: str | None) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize("text", LISTS_OF_OTHER_THINGS)
def test_a_list_after_a_request_that_is_called_wrong_is_no_answer(text: str) -> None:
    assert parse_list(text, expected_length=5)[:2] == (None, "refused")


def test_a_list_after_a_mere_hedge_is_an_answer() -> None:
    text = (
        "I can't give advice. However, here are five:\n1. Nike\n2. Puma\n3. Asics\n4. Fila\n5. Ecco"
    )
    assert parse_list(text, expected_length=5).items == ("Nike", "Puma", "Asics", "Fila", "Ecco")


def test_long_replies_are_judged_by_their_edges() -> None:
    body = "The old town has many small streets, and each of them leads to the river. " * 20
    assert not is_refusal(f"{body} I cannot recommend the tram. {body}")
    assert is_refusal(f"{body} In the end, I cannot recommend any of them.")
