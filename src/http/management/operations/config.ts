import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const configSchema = z
  .strictObject({
    file: z.string().nullable().describe('Null: there is none, and everything has its default.'),
    needs_restart: z.array(z.string()).describe('Sections that changed on disk and that only a start reads.'),
    values: z.array(
      z.strictObject({
        path: z.string(),
        value: z.json().describe('Secrets are redacted.'),
        origin: z
          .string()
          .nullable()
          .describe('`gateway.yaml:7`, with the variable that it names; a variable; or a flag. Null: the default.'),
        meaning: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Configuration' });

export const getConfig = defineRoute({
  method: 'GET',
  path: '/config',
  scope: 'management',
  operationId: 'getConfiguration',
  tag: 'Operations',
  summary: 'Show every value of the configuration in effect, with where it comes from',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'As it is now.', schema: z.strictObject({ data: configSchema }) } },
  errors: [],
  handle({ services }) {
    const { file, needsRestart, values } = services.operations.config();
    const data = {
      file,
      needs_restart: [...needsRestart],
      values: values.map(({ path, value, origin, meaning }) => ({
        path,
        value: z.json().parse(value),
        origin,
        meaning,
      })),
    };
    return { status: 200, body: { data } };
  },
});
