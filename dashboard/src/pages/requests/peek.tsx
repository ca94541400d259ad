import type { ReactElement } from 'react';
import type { GenerationRow } from '../../api/generations.ts';
import { Status } from '../../parts/badge.tsx';
import { To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { formatCount } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';
import { formatMs } from '../../parts/time.ts';
import { labelOfProvider } from '../../parts/provider-label.ts';
import { notesOf } from './columns.tsx';

interface PeekProps {
  readonly row: GenerationRow;
  readonly onClose: () => void;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
  readonly onOpen: () => void;
}

/** One row beside the list: what it knows already, without another call. */
export function Peek({ row, onClose, onPrevious, onNext, onOpen }: PeekProps): ReactElement {
  return (
    <SidePanel
      title={<Name>{row.model}</Name>}
      onClose={onClose}
      onPrevious={onPrevious}
      onNext={onNext}
      onOpen={onOpen}
    >
      <Section title="Request" actions={<To to={`/ui/requests/${row.id}`}>whole story</To>}>
        <Facts
          of={[
            ['Status', <Status key="status" status={row.status} />],
            ['When', <Ago key="when" at={row.created_at} />],
            ['Served by', labelOfProvider(row.provider, row.provider_name) ?? '–'],
            ['Finished', row.finish_reason ?? (row.cancelled ? 'cancelled' : '–')],
            ['Id', <Id key="id" id={row.id} length={26} />],
            ['Request', row.request_id === null ? '–' : <Id key="request" id={row.request_id} length={26} />],
            [
              'Session',
              row.session_id === null ? (
                '–'
              ) : (
                <To key="session" to={`/ui/sessions/${encodeURIComponent(row.session_id)}`}>
                  {row.session_id}
                </To>
              ),
            ],
          ]}
        />
      </Section>
      <Section title="Figures">
        <Facts
          of={[
            ['Tokens in', formatCount(row.tokens_prompt)],
            ['Tokens out', formatCount(row.tokens_completion)],
            ['First token', formatMs(row.time_to_first_token)],
            ['Total', formatMs(row.latency)],
            ['Cost', <Money key="cost" usd={row.total_cost} places={9} />],
            ...notesOf(row).map(([sign, words]) => [sign, words] as const),
          ]}
        />
      </Section>
    </SidePanel>
  );
}
