import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge, Status } from '../../parts/badge.tsx';
import { To } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { formatCount } from '../../parts/money.ts';
import { Section, Stat, Stats } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Name, useNow } from '../../parts/text.tsx';
import type { ScimRequest } from './columns.tsx';
import { findingsOf, type Finding } from './findings.ts';
import { Tokens } from './tokens.tsx';

const WORDS = { good: 'well', warn: 'check', bad: 'broken' } as const;

/** Whether it works and why not, what a provider is to be given, and the tokens. */
export function StatusTab({ status }: { readonly status: Schemas['ScimStatus'] }): ReactElement {
  const nowMs = useNow();
  const tokens = useRead(['scim-tokens'], (signal) => client.GET('/scim/tokens', { signal }));
  const baseUrl = status.base_url ?? `${location.origin}/scim/v2`;
  return (
    <>
      <Stats>
        <Stat label="Active users" hint={`of ${formatCount(status.users)} that were pushed`}>
          <To to="/ui/provisioning" search={{ tab: 'users' }}>
            {formatCount(status.active_users)}
          </To>
        </Stat>
        <Stat label="Groups">
          <To to="/ui/provisioning" search={{ tab: 'groups' }}>
            {formatCount(status.groups)}
          </To>
        </Stat>
        <Stat label="Mappings" hint="of a group to a workspace">
          {formatCount(status.mappings)}
        </Stat>
        <LastRequest title="Last request" request={status.last_request} none="none yet" />
        <LastRequest title="Last refusal" request={status.last_refusal} none="none" />
      </Stats>
      <Section title="Status">
        <Load of={tokens} rows={2}>
          {({ data }) => <Findings of={findingsOf({ status, tokens: data, baseUrl, nowMs })} />}
        </Load>
      </Section>
      <Section title="What the provider is given">
        <div className="flex max-w-2xl flex-col gap-2">
          <p className="text-dim">Tenant URL, or base URL. The unique field for users is userName.</p>
          <CodeBlock label="Base URL" text={baseUrl} isWrapped />
        </div>
      </Section>
      <Section title="Tokens">
        <Load of={tokens} rows={2}>
          {({ data }) => <Tokens of={data} />}
        </Load>
      </Section>
    </>
  );
}

function LastRequest({
  title,
  request,
  none,
}: {
  readonly title: string;
  readonly request: ScimRequest | null;
  readonly none: string;
}): ReactElement {
  return (
    <Stat
      label={title}
      hint={
        request !== null && (
          <>
            <Status status={request.status} /> {request.method}
          </>
        )
      }
    >
      {request === null ? (
        <span className="text-dim">{none}</span>
      ) : (
        <To to="/ui/provisioning" search={{ tab: 'requests', peek: request.id }}>
          <Ago at={request.at} />
        </To>
      )}
    </Stat>
  );
}

function Findings({ of }: { readonly of: readonly Finding[] }): ReactElement {
  return (
    <ul className="flex flex-col gap-2">
      {of.map(({ tone, text, hint }) => (
        <li key={text} className="flex items-start gap-2">
          <Badge tone={tone}>{WORDS[tone]}</Badge>
          <span className="min-w-0 break-words">
            <Name>{text}</Name>
            {hint !== undefined && (
              <span className="block text-dim">
                <Name>{hint}</Name>
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
