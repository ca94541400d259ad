import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Load } from '../../parts/states.tsx';

/** Tasks of requests, as routers classify them. */
export function RoutersTab(): ReactElement {
  const tasks = useRead(['classifications'], (signal) =>
    client.GET('/classifications/task', { signal, params: { query: {} } }),
  );
  return (
    <Section title="Tasks, as routers classified them">
      <Load of={tasks}>
        {(response) =>
          JSON.stringify(response.data) === '[]' ? (
            <Empty title="No router decided yet">
              <p>Ask service/auto: the classes of its requests, the models it chose and what that saved are here.</p>
            </Empty>
          ) : (
            <JsonView value={response.data} label="Tasks" />
          )
        }
      </Load>
    </Section>
  );
}
