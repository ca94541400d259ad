import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import {
  endSession,
  nameOfSession,
  sessionsQuery,
  sightOf,
  signOut,
  useConsole,
  type Session,
  type Sight,
} from '../../api/session.ts';
import { signInQuery } from '../../api/sign-in.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Checkbox, Segments } from '../../parts/field.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { areSingleKeysOn, setSingleKeys } from '../../parts/hotkeys.ts';
import { Facts, Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { setTheme, useTheme } from '../../parts/preferences/theme.ts';
import { Ago, Name } from '../../parts/text.tsx';
import { setZone, useZone } from '../../parts/preferences/zone.ts';
import { Connections } from './connections.tsx';
import { Configuration } from './configuration.tsx';
import { Password } from './password.tsx';
import { parseSettingsSearch } from './search.ts';

const TABS = [
  { value: 'session', label: 'You and this browser' },
  { value: 'configuration', label: 'Configuration in effect' },
] as const;

/** What concerns this browser, the sessions, and the configuration in effect. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseSettingsSearch);
  const { isOperator } = useConsole();
  const isConfiguration = search.tab === 'configuration' && isOperator;
  return (
    <Frame
      title="Settings"
      isFilled={isConfiguration}
      bar={
        isOperator ? (
          <Segments
            label="Part"
            value={search.tab}
            options={TABS}
            onChange={(tab) => change({ tab: tab === 'session' ? undefined : tab, q: undefined })}
          />
        ) : undefined
      }
    >
      {isConfiguration ? <Configuration search={search} change={change} /> : <You />}
    </Frame>
  );
}

const ROLES: Readonly<Record<Sight, string>> = {
  operator: 'operator: the whole administration',
  admin: 'admin of a workspace: what is in it, and what is yours',
  user: 'member: your keys and your requests',
  key: 'member: what this key may use',
};

function You(): ReactElement {
  const { session } = useConsole();
  const { data: ways } = useQuery(signInQuery);
  return (
    <>
      {session !== undefined && (
        <Section
          title="Signed in"
          actions={<Button onClick={() => void signOut().finally(() => location.assign('/'))}>Sign out</Button>}
        >
          <Facts
            of={[
              ['As', <Name key="as">{nameOfSession(session)}</Name>],
              ['Role', ROLES[sightOf(session)]],
              [
                session.subject.kind === 'user' ? 'Address' : 'Key',
                <span key="key" className="font-mono text-xs">
                  {session.subject.label}
                </span>,
              ],
              ['Since', <Ago key="since" at={session.created_at} />],
              ['Ends', <Ago key="ends" at={session.ends_at} />],
            ]}
          />
        </Section>
      )}
      {session?.subject.kind === 'user' && ways?.hasPasswords === true && <Password />}
      <Look />
      <Connections />
      <Sessions />
    </>
  );
}

const LOCAL_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

function Look(): ReactElement {
  const theme = useTheme();
  const zone = useZone();
  const [hasKeys, setHasKeys] = useState(areSingleKeysOn);
  return (
    <Section title="This browser">
      <div className="flex flex-col gap-3">
        <div className="flex items-center gap-3">
          <span className="w-24 text-dim">Theme</span>
          <Segments
            label="Theme"
            value={theme}
            options={[
              { value: 'system', label: 'as the system' },
              { value: 'light', label: 'light' },
              { value: 'dark', label: 'dark' },
            ]}
            onChange={setTheme}
          />
        </div>
        <div className="flex flex-wrap items-center gap-3">
          <span className="w-24 text-dim">Times</span>
          <Segments
            label="Times"
            value={zone}
            options={[
              { value: 'utc', label: 'UTC' },
              { value: 'local', label: `local: ${LOCAL_ZONE}` },
            ]}
            onChange={setZone}
          />
          <span className="text-xs text-dim">Days of sums, budgets and limits are those of UTC in both.</span>
        </div>
        <Checkbox
          label="Single letters are commands"
          hint="Without them Ctrl K, Escape, Enter and the arrows still work."
          checked={hasKeys}
          onChange={(event) => {
            setSingleKeys(event.target.checked);
            setHasKeys(event.target.checked);
          }}
        />
      </div>
    </Section>
  );
}

function Sessions(): ReactElement {
  const sessions = useQuery(sessionsQuery);
  const [{ filter }, change] = useSearchState(parseSettingsSearch);
  const setFilter = (q: string): void => change({ q }, false);
  const queries = useQueryClient();
  const end = async (id: string): Promise<void> => {
    await endSession(id);
    await queries.invalidateQueries();
  };
  const found = (sessions.data ?? []).filter(({ subject, user_agent: device, address_prefix: network }) =>
    matches(filter, subject.name, subject.label, device, network),
  );
  return (
    <Section
      title="Sessions"
      actions={<FilterBox value={filter} onChange={setFilter} placeholder="Firefox" label="Filter sessions" />}
    >
      <ul className="divide-y divide-line">
        {found.map((session) => (
          <SessionRow key={session.id} session={session} onEnd={() => void end(session.id)} />
        ))}
      </ul>
      {found.length === 0 && sessions.data !== undefined && <p className="text-dim">No session matches.</p>}
    </Section>
  );
}

function SessionRow({ session, onEnd }: { readonly session: Session; readonly onEnd: () => void }): ReactElement {
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-3">
      <span className="font-medium">
        <Name>{nameOfSession(session)}</Name>
      </span>
      {session.current && <Badge tone="accent">this one</Badge>}
      <span className="min-w-0 flex-1 truncate text-dim">{session.user_agent}</span>
      <span className="font-mono text-xs text-dim">{session.address_prefix}</span>
      <span className="text-dim">
        seen <Ago at={session.last_seen_at} />
      </span>
      {!session.current && <Button onClick={onEnd}>End</Button>}
    </li>
  );
}
