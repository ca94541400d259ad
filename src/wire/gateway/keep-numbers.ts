import { isJsonObject, parseKeepingNumbers } from '../../lib/json.ts';

/** Which members of a body hold numbers that are only written out again. */
export interface Travellers {
  readonly travels: (member: string) => boolean;
  /** A number that is read here, in a member that travels otherwise. */
  readonly numberIn: Readonly<Record<string, string>>;
}

/**
 * A body that has been checked, with numbers as the caller wrote them wherever they only travel on: in schemas of tools,
 * in members that nobody here knows. What is read here stays the number that was checked.
 * @param checked the body as its schema gives it; its travelling members as they came
 * @param text the body's own text, which costs ten times as much to read so: only for numbers that could have been lost
 */
export function keepNumbers<Body extends Readonly<Record<string, unknown>>>(
  checked: Body,
  text: string,
  { travels, numberIn }: Travellers,
): Body {
  const exact = parseKeepingNumbers(text);
  if (!isJsonObject(exact)) return checked;
  const kept: Record<string, unknown> = { ...checked };
  for (const member of Object.keys(exact)) {
    // Assigning `__proto__` would set a prototype instead of a member.
    if (!Object.hasOwn(checked, member) || member === '__proto__' || !travels(member)) continue;
    const number = Object.hasOwn(numberIn, member) ? numberIn[member] : undefined;
    const before = checked[member];
    const value = exact[member];
    kept[member] =
      number !== undefined && isJsonObject(value) && isJsonObject(before) && number in value
        ? { ...value, [number]: before[number] }
        : value;
  }
  return isTwin(kept, checked) ? kept : checked;
}

/** The same members; only that some numbers are `ExactNumber`s, for readers who ask for the kind of what they read. */
function isTwin<Body>(kept: unknown, _checked: Body): kept is Body {
  return kept !== undefined;
}
