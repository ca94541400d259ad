import { z } from 'zod';
import type { Json } from '../../lib/json.ts';

/** Whatever JSON holds: a request came out of a parser. */
export const json: z.ZodType<Json> = z.any();

/** An object whose further members are kept. */
export function open<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.object(shape).catchall(json);
}

/**
 * An object that `type` tells apart: a known kind must have its shape, any other passes as it stands, because vendors
 * add kinds faster than gateways are released (pains.md 25).
 */
export function openKinds(kinds: Readonly<Record<string, z.ZodType>>) {
  return open({ type: z.string() }).check((context) => {
    const { type } = context.value;
    const shape = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
    if (shape !== undefined) pushIssues(context, shape);
  });
}

// The wording is left to whoever reads the issues; unions word what is inside them before they hand it on.
const PARSE_CONTEXT: z.core.ParseContextInternal = { async: false, error: () => '', reportInput: true };

/** Runs a further schema over a value; what it finds is reported as if it had been written there. */
export function pushIssues(context: z.core.ParsePayload, shape: z.ZodType): void {
  const { _zod: parser } = shape;
  const result = parser.run({ value: context.value, issues: [] }, PARSE_CONTEXT);
  if (!(result instanceof Promise)) context.issues.push(...result.issues);
}
