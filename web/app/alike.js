// Requests of the same kind, whatever turn or session they came from: they can be decided on one page.

/** The programs of a shell line, each with its subcommand; nothing where the request has no shell line. */
function programs(document) {
  const commands = [...(document?.head ?? []), ...(document?.body ?? [])].find(({ block }) => block === 'commands');
  return (commands?.commands ?? []).map(({ text }) => String(text).trim().split(/\s+/).slice(0, 2).join(' '));
}

/**
 * What a request is the same kind as: agent, tool, the rule that asked, and the programs of its command. Questions from agents are alike when they have the same title.
 * @returns {string}
 */
export function kindOf(question) {
  const { agent, call, type, title, verdict, document } = question;
  if (!call) return JSON.stringify([agent, type, title]);
  return JSON.stringify([agent, call.tool, verdict?.rule ?? null, ...programs(document)]);
}

/** The pending requests of the same kind that are this person's, itself included, in their order. */
export function alikeOf(question, pending) {
  const kind = kindOf(question);
  return pending.filter((other) => other.mayAnswer !== false && kindOf(other) === kind);
}

/**
 * How many of each kind there are in a list, by the first of them; kinds that are all of one turn have their frame already.
 * @returns {Map<string, number>}
 */
export function alikeIn(shown) {
  const kinds = new Map();
  for (const question of shown.filter(({ mayAnswer }) => mayAnswer !== false)) {
    const kind = kindOf(question);
    kinds.set(kind, [...(kinds.get(kind) ?? []), question]);
  }
  const several = [...kinds.values()].filter(
    ([first, ...rest]) => rest.length > 0 && !(first.group && rest.every(({ group }) => group === first.group)),
  );
  return new Map(several.map((questions) => [questions[0].requestId, questions.length]));
}

/** Which of the pending requests come from the turn of this one. */
export const turnOf = ({ group }, pending) => (group ? pending.filter((other) => other.group === group) : []);
