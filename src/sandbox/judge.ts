/** As often as an option's name stands in the state, at most so often. */
const COUNT_MAX = 5;
const LISTED_MAX = 10;
const HUNDRED = 100;

/** One question as it stands in the prompt of a judge. */
interface ReadQuestion {
  readonly label: string;
  readonly options: readonly { readonly label: string; readonly name: string }[];
}

/**
 * Decides by counting: an option weighs one, and one more for each time that its name stands in the state. So it follows
 * nothing that the state says, has no preference for a place, and decides the same every time. A state with
 * `sandbox: malformed` gets prose.
 */
export function judgeByCounting(userText: string): string {
  const end = userText.lastIndexOf('</state');
  const state = userText.slice(0, Math.max(0, end)).toLowerCase();
  const questions = readQuestions(userText.slice(Math.max(0, end)));
  if (questions.length === 0) return 'I judge questions of /alpha/decisions, and find none here.';
  if (state.includes('sandbox: malformed')) return 'It is most likely the first one.';
  const isListed = userText.trimEnd().includes('"top":');
  const answers = questions.map(({ label, options }) => {
    const weights = options.map(({ name }) => 1 + Math.min(COUNT_MAX, countOf(name.toLowerCase(), state)));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    const percent = options.map((option, index) => ({
      label: option.label,
      percent: Math.round((HUNDRED * (weights[index] ?? 0)) / sum),
    }));
    return [
      label,
      isListed ? listed(percent) : { percent: Object.fromEntries(percent.map((one) => [one.label, one.percent])) },
    ];
  });
  return JSON.stringify({ answers: Object.fromEntries(answers) });
}

function readQuestions(text: string): readonly ReadQuestion[] {
  return text
    .split(/^Question (?=q\d+: )/m)
    .slice(1)
    .map((part) => ({
      label: part.slice(0, part.indexOf(':')),
      options: [...part.matchAll(/^([A-Z]|O\d+): (.*)$/gm)].map(([, label = '', name = '']) => ({
        label,
        // What stands in parentheses explains the option.
        name: name.split(' (')[0] ?? name,
      })),
    }));
}

function countOf(name: string, state: string): number {
  return name === '' ? 0 : state.split(name).length - 1;
}

function listed(percent: readonly { readonly label: string; readonly percent: number }[]) {
  const top = percent.toSorted((a, b) => b.percent - a.percent).slice(0, LISTED_MAX);
  const rest = Math.max(0, HUNDRED - top.reduce((sum, one) => sum + one.percent, 0));
  return { top, rest };
}
