import { z } from 'zod';
import { auditEventResource, type AuditEvent } from '../../resources/audit-events.ts';
import { filterSchema, serializePage, pageSchema, pageShape, parseWindow, timeShape } from './page.ts';
import { defineRoute, NO_BODY, NOTHING } from './route.ts';

const { schema: auditEventSchema } = auditEventResource;

export const listAudit = defineRoute({
  method: 'GET',
  path: '/audit',
  scope: 'management',
  operationId: 'listAuditEvents',
  tag: 'Audit',
  summary: 'List changes and their authors, newest first',
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    ...timeShape,
    action: filterSchema.describe('Only this operation.'),
    actor: filterSchema.describe('Only what the key with this hash did.'),
    subject: filterSchema.describe('Only what was done to this.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of events.', schema: pageSchema(auditEventSchema) } },
  errors: [400],
  async handle({ query, services }) {
    const { action, actor, subject, from, to } = query;
    const page = await services.audit.list({
      ...parseWindow(query),
      ...(action !== undefined && { action }),
      ...(actor !== undefined && { actorKeyHash: actor }),
      ...(subject !== undefined && { subject }),
      ...(from !== undefined && { fromMs: Date.parse(from) }),
      ...(to !== undefined && { toMs: Date.parse(to) }),
    });
    return { status: 200, body: serializePage(page, serializeEvent) };
  },
});

function serializeEvent(event: AuditEvent): z.output<typeof auditEventSchema> {
  const { actorKeyHash, actorLabel } = event;
  return auditEventResource.serialize(event, { actor: { key_hash: actorKeyHash, label: actorLabel } });
}
