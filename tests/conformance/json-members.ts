/** A member of a JSON value: its path as issues and warnings write it, and the way there. */
export interface Member {
  readonly path: string;
  readonly steps: readonly (string | number)[];
}

/** Every member of every object in a JSON value, at any depth. */
export function membersOf(value: unknown, path = '', steps: readonly (string | number)[] = []): readonly Member[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => membersOf(item, `${path}[${at}]`, [...steps, at]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const member = { path: path === '' ? name : `${path}.${name}`, steps: [...steps, name] };
    return [member, ...membersOf(inner, member.path, member.steps)];
  });
}

/** Every object in a JSON value, at any depth, the value itself among them. */
export function objectsOf(value: unknown, path = '', steps: readonly (string | number)[] = []): readonly Member[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => objectsOf(item, `${path}[${at}]`, [...steps, at]));
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, member]) =>
    objectsOf(member, path === '' ? name : `${path}.${name}`, [...steps, name]),
  );
  return [{ path, steps }, ...inner];
}

/** A copy without one member. */
export function withoutMember<Value>(value: Value, steps: Member['steps']): Value {
  const copy = structuredClone(value);
  const owner = holderOf(copy, steps.slice(0, -1));
  delete owner[steps.at(-1) ?? ''];
  return copy;
}

/** A copy in which the object at the end of the steps has one member more. */
export function withMember<Value>(value: Value, steps: Member['steps'], name: string, member: unknown): Value {
  const copy = structuredClone(value);
  holderOf(copy, steps)[name] = member;
  return copy;
}

function holderOf(value: unknown, steps: Member['steps']): Record<string | number, unknown> {
  let owner = value as Record<string | number, unknown>;
  for (const step of steps) owner = owner[step] as Record<string | number, unknown>;
  return owner;
}
