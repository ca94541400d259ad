import type { ReactElement } from 'react';
import { isRecord } from '../../api/errors.ts';
import { useRead } from '../../api/read.ts';
import { readApi } from '../../api/transport.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { Section } from '../../parts/page.tsx';
import { Load, Needs } from '../../parts/states.tsx';

const REFRESH_MS = 15_000;

/** How each endpoint does, in this process. */
export function HealthTab(): ReactElement {
  return (
    <Section title="Health of endpoints">
      <Needs operation="GET /routing/health">
        <Health />
      </Needs>
    </Section>
  );
}

function Health(): ReactElement {
  const health = useRead(['routing-health'], async (signal) => ({ data: await readApi('/routing/health', signal) }), {
    everyMs: REFRESH_MS,
  });
  return (
    <Load of={health}>
      {(body) => <JsonView value={isRecord(body) ? body['data'] : body} label="Health of endpoints" />}
    </Load>
  );
}
