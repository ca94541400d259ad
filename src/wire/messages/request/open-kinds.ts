import { z } from 'zod';
import { isJsonObject } from '../../../lib/json.ts';
import type { Json } from '../../../lib/json.ts';
import { fastSchema } from '../../gateway/validation/fast-schema.ts';

/** Whatever JSON holds: a request came out of a parser. */
export const json: z.ZodType<Json> = z.any();

/** An object whose further members are kept. */
export function open<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.object(shape).catchall(json);
}

/** An object of any kind: only its `type` is sure. */
export interface KindObject {
  readonly type: string;
  readonly [member: string]: Json;
}

/**
 * An object that `type` distinguishes: a known kind must have its shape, any other passes as it stands, because vendors
 * add kinds faster than gateways are released (@spec request-10). The value is not copied: prompts are made of these.
 */
export function openKinds(kinds: Readonly<Record<string, z.ZodType>>): z.ZodType<KindObject> {
  return z.any().check((context) => {
    const value: unknown = context.value;
    if (!isJsonObject(value)) {
      context.issues.push({ code: 'invalid_type', expected: 'object', input: value });
      return;
    }
    const { type } = value;
    if (typeof type === 'string') {
      const shape = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
      if (shape !== undefined) pushIssues(context, shape);
    } else {
      context.issues.push({ code: 'invalid_type', expected: 'string', path: ['type'], input: type });
    }
  });
}

// The code that reads the issues writes the messages; a union writes those inside it before it passes them on.
const PARSE_CONTEXT: z.core.ParseContextInternal = { async: false, error: () => '', reportInput: true };

/** Runs a further schema over a value; what it finds is reported as if it had been written there. */
export function pushIssues(context: z.core.ParsePayload, shape: z.ZodType): void {
  if (fastSchema(shape).safeParse(context.value).success) return;
  const { _zod: parser } = shape;
  const result = parser.run({ value: context.value, issues: [] }, PARSE_CONTEXT);
  if (!(result instanceof Promise)) context.issues.push(...result.issues);
}
