import { useParams } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge, Status } from '../../parts/badge.tsx';
import { Button, LinkButton, To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Facts, Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';
import { WarningList } from '../../parts/warning-list.tsx';
import { formatMs, formatMoment } from '../../parts/time.ts';
import { Content } from './content.tsx';
import { Feedback, FeedbackList } from './feedback.tsx';
import { endingOf } from './ending.ts';
import { Story, type Generation } from './story.tsx';
import { servedBy } from './served-by.ts';

/** The whole story of one request. */
export function Page(): ReactElement {
  const { id = '' } = useParams({ strict: false });
  const generation = useRead(
    ['generation', id],
    async (signal) => ({ data: (await client.GET('/generation', { signal, params: { query: { id } } })).data?.data }),
    { isLate: true },
  );
  return (
    <Frame
      documentTitle={id}
      title={
        <>
          <To to="/ui/requests" className="text-dim hover:underline">
            Requests
          </To>
          <span className="text-dim">/</span>
          <Id id={id} length={22} />
        </>
      }
      actions={generation.data === undefined ? undefined : <Actions generation={generation.data} />}
    >
      <Load of={generation}>{(data) => <Details generation={data} />}</Load>
    </Frame>
  );
}

function Actions({ generation }: { readonly generation: Generation }): ReactElement {
  const [open, setOpen] = useState<'json' | 'feedback'>();
  return (
    <>
      <LinkButton to="/ui/playground" search={{ models: generation.model }} icon="playground">
        Ask again
      </LinkButton>
      <LinkButton to="/ui/routing" search={{ model: generation.model }} icon="routing">
        Explain now
      </LinkButton>
      <Button onClick={() => setOpen('feedback')}>Feedback</Button>
      <Button onClick={() => setOpen('json')}>JSON</Button>
      <Dialog title="The record" isOpen={open === 'json'} onClose={() => setOpen(undefined)} width="max-w-3xl">
        <JsonView value={generation} label="The record" />
      </Dialog>
      <Feedback id={generation.id} isOpen={open === 'feedback'} onClose={() => setOpen(undefined)} />
    </>
  );
}

function Details({ generation }: { readonly generation: Generation }): ReactElement {
  const [ending, tone] = endingOf(generation);
  return (
    <>
      <Stats>
        <Stat
          label="Ended"
          hint={generation.native_finish_reason === null ? undefined : `upstream: ${generation.native_finish_reason}`}
        >
          <span className="flex items-center gap-2">
            <Status status={generation.status} /> <Badge tone={tone}>{ending}</Badge>
          </span>
        </Stat>
        <Stat
          label="Model"
          hint={
            servedBy(generation) === undefined ? (
              'no provider served it'
            ) : (
              <>
                at <Name>{servedBy(generation) ?? ''}</Name>
              </>
            )
          }
        >
          <span className="break-all">
            <Name>{generation.model}</Name>
          </span>
        </Stat>
        <Stat label="Total" hint={`first token ${formatMs(generation.time_to_first_token)}`}>
          {formatMs(generation.latency)}
        </Stat>
        <Stat label="Cost" hint={generation.is_byok ? 'own credential' : undefined}>
          {generation.total_cost === null ? 'unknown' : `${formatUsd(generation.total_cost)} $`}
        </Stat>
        <Stat label="When" hint={<Ago at={generation.created_at} />}>
          <span className="text-base">{formatMoment(new Date(generation.created_at))}</span>
        </Stat>
      </Stats>
      <Story generation={generation} />
      <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
        <Cost generation={generation} />
        <Tokens generation={generation} />
      </div>
      {generation.warnings.length > 0 && <Warnings of={generation.warnings} />}
      <Caller generation={generation} />
      <FeedbackList id={generation.id} />
      <Content id={generation.id} />
    </>
  );
}

/** The lines that add up to the cost. */
function Cost({ generation }: { readonly generation: Generation }): ReactElement {
  const {
    total_cost: total,
    upstream_cost: upstream,
    upstream_inference_cost: list,
    cache_discount: discount,
    router_savings: saved,
  } = generation;
  return (
    <Section title="Cost in USD">
      <Facts
        of={[
          ['Prompt', <Money key="prompt" usd={generation.cost_prompt} places={9} />],
          ['Completion', <Money key="completion" usd={generation.cost_completion} places={9} />],
          ['Searches, files, tools', <Money key="other" usd={generation.cost_other} places={9} />],
          ['Charged', <Money key="total" usd={total} places={9} />],
          [
            'Reported by the upstream',
            upstream === null ? 'nothing' : <Money key="upstream" usd={upstream} places={9} />,
          ],
          ...(list === null ? [] : [['At the list price', <Money key="list" usd={list} places={9} />] as const]),
          [
            'Saved by prompt caches',
            discount === null ? 'nothing' : <Money key="discount" usd={discount} places={9} />,
          ],
          [
            'Saved by the router',
            saved === null ? (
              'no router'
            ) : (
              <span key="saved">
                <Money usd={saved} places={9} /> against {generation.compared_model ?? 'the dearest'}
              </span>
            ),
          ],
          ['Paid with', generation.is_byok ? 'an own credential' : 'the gateway’s credential'],
        ]}
      />
    </Section>
  );
}

function Tokens({ generation }: { readonly generation: Generation }): ReactElement {
  const counts = [
    ['Prompt', generation.tokens_prompt],
    ['of it cached', generation.native_tokens_cached],
    ['Completion', generation.tokens_completion],
    ['of it reasoning', generation.native_tokens_reasoning],
    ['Images made', generation.native_tokens_completion_images],
    ['Web searches', generation.num_searches],
    ['Pages fetched', generation.num_fetches],
  ] as const;
  const source = { upstream: 'the upstream', estimated: 'the gateway: an estimate', none: 'none were counted' }[
    generation.usage_source
  ];
  return (
    <Section title="Tokens">
      <Facts
        of={[
          ['Counted by', source],
          ...counts.flatMap(([name, count]) => (count === null ? [] : [[name, formatCount(count)] as const])),
        ]}
      />
    </Section>
  );
}

function Warnings({ of }: { readonly of: Generation['warnings'] }): ReactElement {
  return (
    <Section title="Warnings">
      <WarningList of={of} />
    </Section>
  );
}

function Caller({ generation }: { readonly generation: Generation }): ReactElement {
  const { session_id: session, request_id: request } = generation;
  return (
    <Section title="Caller">
      <Facts
        of={[
          [
            'Session',
            session === null ? (
              'none was named'
            ) : (
              <To key="session" to={`/ui/sessions/${encodeURIComponent(session)}`}>
                {session}
              </To>
            ),
          ],
          ['Made by', generation.request_origin],
          ['Request', request === null ? '–' : <Id key="request" id={request} length={26} />],
          ['Program', generation.user_agent === null ? 'unknown' : <Name key="agent">{generation.user_agent}</Name>],
          [
            'From',
            generation.http_referer === null ? (
              generation.origin === '' ? (
                '–'
              ) : (
                generation.origin
              )
            ) : (
              <Name key="referer">{generation.http_referer}</Name>
            ),
          ],
          ['End user', generation.external_user ?? 'none was named'],
          ['Kind', `${generation.api_type}, ${generation.streamed ? 'streamed' : 'whole'}`],
          [
            'Upstream id',
            generation.upstream_id === null ? '–' : <Id key="upstream" id={generation.upstream_id} length={26} />,
          ],
          ['Preset', generation.preset_id ?? 'none'],
          ['Router', generation.router ?? 'none'],
          ['Service tier', generation.service_tier ?? 'the usual one'],
        ]}
      />
    </Section>
  );
}
