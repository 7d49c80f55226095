// A context as the conversation it is: system text, turns by role, and where conversations begin.
const ROLE_WORDS = new Map([
  ["system", "System text"],
  ["user", "User"],
  ["assistant", "Assistant"],
]);
const MESSAGES_AT_ONCE = 40;
const conversation = (messages) => {
  const total = messages.filter((message) => message.starts).length;
  let number = 0;
  const turns = messages.map((message) => {
    const parts = [];
    if (message.starts) {
      number += 1;
      parts.push(h("h3", { class: "begins" }, `Conversation ${count(number)} of ${count(total)}`));
    }
    const role = ROLE_WORDS.has(message.role) ? message.role : "other";
    parts.push(
      h(
        "div",
        { class: `turn ${role}` },
        h("p", { class: "role" }, ROLE_WORDS.get(message.role) ?? message.role),
        longText(message.content, 1500),
      ),
    );
    return parts;
  });
  const box = h("div", { class: "conversation" }, turns.slice(0, MESSAGES_AT_ONCE));
  if (turns.length > MESSAGES_AT_ONCE) {
    const more = button(`Show all ${count(turns.length)} messages`, () => {
      more.replaceWith(...turns.slice(MESSAGES_AT_ONCE).flat());
    });
    box.append(more);
  }
  return box;
};
const contextFacts = (context) =>
  facts([
    [
      "Tokens",
      context.n_tokens === null || context.n_tokens === undefined ? null : count(context.n_tokens),
    ],
    ["Conversations left out for length", context.n_dropped ? count(context.n_dropped) : null],
    ["Conversations", context.conversation_ids?.length ? context.conversation_ids.join(", ") : null],
    ["Id of the context", context.id],
  ]);
// the context at a place of the table, as far as the page may show it
const contextBox = (place) => {
  const context = table.contexts[place];
  if (!context)
    return note(CONTEXTS_WITHHELD.get(study.contexts) ?? "No context of this answer is in this page.");
  const messages = isContextFile(context.file)
    ? later(messagesOf(context), conversation)
    : note(CONTEXTS_WITHHELD.get(study.contexts) ?? "The texts of this context are not in this page.");
  return h("div", {}, contextFacts(context), messages);
};
