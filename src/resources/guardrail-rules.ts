import { z } from 'zod';
import { mapGroups, type GuardrailRules } from '../canonical/guardrail-rules.ts';
import { json, jsonValue, type Column, type ParseContext } from './columns.ts';
import { builtinFilters, checkPatterns, contentFilters } from './content-filters.ts';
import { judgeFilters } from './judge-filters.ts';
import { defineResource, member, type PatchOf } from './resource.ts';
import { camelCase, type Camel, type Entries } from './row-mapper.ts';

const NAMES_MAX = 1_000;
const SLUG_CHARS_MAX = 256;

/** An empty list would allow nothing, or ignore nothing, by mistake. @spec guardrail-1 */
const names = z.array(z.string().min(1).max(SLUG_CHARS_MAX)).min(1).max(NAMES_MAX).nullable();
const models = names.optional().describe('Slugs or permanent names; kept as permanent names.');
const shownNames = z.array(z.string()).nullable();
const list = jsonValue(z.array(z.string()).readonly().nullable());

const permission = z.boolean().nullable();
const choice = jsonValue(permission);

const groups = {
  anthropic: member(choice, { as: 'enforce_zdr_anthropic', initial: null, set: permission }),
  openai: member(choice, { as: 'enforce_zdr_openai', initial: null, set: permission }),
  google: member(choice, { as: 'enforce_zdr_google', initial: null, set: permission }),
  xai: member(choice, { as: 'enforce_zdr_xai', initial: null, set: permission }),
  other: member(choice, { as: 'enforce_zdr_other', initial: null, set: permission }),
};
const zeroRetention = defineResource('ZeroRetention', groups);
const storedGroups = z.strictObject(jsonShape(groups));

const lists = {
  allowed_providers: member(list, { initial: null, shown: shownNames, set: names }),
  ignored_providers: member(list, { initial: null, shown: shownNames, set: names }),
  allowed_models: member(list, { initial: null, shown: shownNames, set: models }),
  ignored_models: member(list, { initial: null, shown: shownNames, set: models }),
};
const others = {
  paid_training: member(choice, { as: 'enable_paid_model_training', initial: null, set: permission }),
  free_training: member(choice, { as: 'enable_free_model_training', initial: null, set: permission }),
  free_publication: member(choice, { as: 'enable_free_model_publication', initial: null, set: permission }),
  content_filters: member(contentFilters, { initial: null }),
  builtin_filters: member(builtinFilters, { as: 'content_filter_builtins', initial: null }),
  judge_filters: member(judgeFilters, { initial: null }),
};

/** All rules of a guardrail, which are one column of JSON. Names of its members there are those of rows. */
const ruleResource = defineResource('GuardrailRules', {
  ...lists,
  zero_retention: member(jsonValue(storedGroups), { initial: zeroRetention.newRow({}) }),
  ...zeroRetention.schema.shape,
  enforce_zdr: permission.meta({ deprecated: true, description: 'Whether all vendors are meant.' }),
  ...others,
});

/** A guardrail that cannot be read must not let everything through: reading it throws. */
export const rulesColumn: Column<string, GuardrailRules> = json(
  z.strictObject({ ...jsonShape(lists), zeroRetention: storedGroups, ...jsonShape(others) }),
);
export const NO_RULES: GuardrailRules = ruleResource.newRow({});

/** Rules as responses show them. */
export const { shape: shownRulesShape } = ruleResource.schema;

const { allowed_providers, ignored_providers, allowed_models, ignored_models, ...otherShape } =
  ruleResource.updateShape;
/** Rules as they are sent. @spec guardrail-1 */
export const rulesShape = {
  allowed_providers,
  ignored_providers,
  allowed_models,
  ignored_models,
  ...zeroRetention.updateShape,
  enforce_zdr: permission
    .meta({ deprecated: true, description: 'Of all vendors whose own field is left out.' })
    .optional(),
  ...otherShape,
};

/** What a change may say of the rules: each vendor's zero retention by itself. */
export type RuleChanges = Omit<PatchOf<typeof ruleResource>, 'zeroRetention'> & {
  readonly zeroRetention?: PatchOf<typeof zeroRetention>;
};

/** Parses the rules that were sent into their stored form. @throws GatewayError 400 for a pattern */
export async function parseRules(
  sent: z.output<z.ZodObject<typeof rulesShape>>,
  context: ParseContext,
): Promise<RuleChanges> {
  await checkPatterns(sent.content_filters);
  const { enforce_zdr: all } = sent;
  // The deprecated field applies to all groups that are not named. @spec guardrail-5
  const everyGroup = all === undefined ? {} : mapGroups(zeroRetention.newRow({}), () => all);
  return {
    ...ruleResource.parsePatch(sent, context),
    zeroRetention: { ...everyGroup, ...zeroRetention.parsePatch(sent, context) },
  };
}

export function serializeRules(rules: GuardrailRules): z.output<z.ZodObject<typeof shownRulesShape>> {
  const values = Object.values(rules.zeroRetention);
  return ruleResource.serialize(rules, {
    ...zeroRetention.serialize(rules.zeroRetention, {}),
    enforce_zdr: values.every((value) => value === null) ? null : values.every((value) => value === true),
  });
}

type Stored = Readonly<Record<string, { readonly stored: z.ZodType }>>;
type JsonShape<M extends Stored> = { [Name in keyof M as Camel<Name & string>]: M[Name]['stored'] };

/** The shape of an object inside a column of JSON, by the names that its members have in rows. */
function jsonShape<const M extends Stored>(members: M): JsonShape<M> {
  const entries: Entries = Object.entries(members).map(([name, { stored }]) => [camelCase(name), stored]);
  return Object.fromEntries(entries);
}
