import { isJsonObject, parseKeepingNumbers } from '../../lib/json.ts';

/** Which members of a body pass through, so that their numbers are only written out again. */
export interface PassthroughFields {
  readonly passesThrough: (member: string) => boolean;
  /** A number that the gateway reads, in a member that passes through otherwise. */
  readonly numberIn: Readonly<Record<string, string>>;
}

/**
 * Returns a checked body with numbers as the caller wrote them wherever they only pass through: in schemas of tools, and
 * in members that the gateway does not know. A number that the gateway reads stays the one that was checked.
 * @param checked the body as its schema gives it; its passthrough members as they came
 * @param text the body's own text. Parsing it this way costs ten times as much: only for numbers that could have been lost
 */
export function keepNumbers<Body extends Readonly<Record<string, unknown>>>(
  checked: Body,
  text: string,
  { passesThrough, numberIn }: PassthroughFields,
): Body {
  const exact = parseKeepingNumbers(text);
  if (!isJsonObject(exact)) return checked;
  const kept: Record<string, unknown> = { ...checked };
  for (const member of Object.keys(exact)) {
    // Assigning `__proto__` would set a prototype instead of a member.
    if (!Object.hasOwn(checked, member) || member === '__proto__' || !passesThrough(member)) continue;
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

/** The same members, but some numbers are `ExactNumber`s. Code that reads them checks their kind. */
function isTwin<Body>(kept: unknown, _checked: Body): kept is Body {
  return kept !== undefined;
}
