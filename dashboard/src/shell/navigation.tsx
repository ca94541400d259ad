import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { nameOfSession, sightOf, type Console, type Sight } from '../api/session.ts';
import { IconButton, Kbd } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { toggleTheme, useIsDark } from '../parts/preferences/theme.ts';
import type { PageEntry } from '../pages.ts';
import { Mark } from './card.tsx';

interface NavigationProps {
  readonly pages: readonly PageEntry[];
  readonly path: string;
  readonly console: Console;
  /** On narrow screens, over the page. */
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onFind: () => void;
  readonly onHelp: () => void;
}

const GROUPS = ['Use', 'Look', 'Manage', 'Run'] as const;

export function Navigation(props: NavigationProps): ReactElement {
  const { isOpen, onOpen, onFind } = props;
  return (
    <>
      <header className="fixed inset-x-0 top-0 z-30 flex h-11 items-center gap-2 border-b border-line bg-surface px-2 lg:hidden">
        <IconButton
          icon={isOpen ? 'close' : 'menu'}
          label={isOpen ? 'Close the navigation' : 'Open the navigation'}
          aria-expanded={isOpen}
          onClick={() => onOpen(!isOpen)}
        />
        <Mark />
        <span className="flex-1 font-semibold">Gateway</span>
        <IconButton icon="search" label="Find" onClick={onFind} />
      </header>
      {isOpen && <div className="fixed inset-0 z-20 bg-black/40 lg:hidden" onClick={() => onOpen(false)} />}
      <nav
        aria-label="Pages"
        className={`${isOpen ? 'flex' : 'hidden'} z-20 w-52 shrink-0 flex-col border-r border-line bg-page max-lg:fixed max-lg:inset-y-0 max-lg:left-0 max-lg:pt-11 lg:flex`}
      >
        <Top onFind={onFind} />
        <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
          {GROUPS.map((group) => (
            <Group key={group} group={group} {...props} />
          ))}
        </div>
        <Foot {...props} />
      </nav>
    </>
  );
}

function Top({ onFind }: { readonly onFind: () => void }): ReactElement {
  return (
    <div className="flex flex-col gap-2 p-2 max-lg:hidden">
      <Link to="/" className="flex h-8 items-center gap-2 rounded-md px-1.5 font-semibold">
        <Mark /> Gateway
      </Link>
      <button
        type="button"
        onClick={onFind}
        className="flex h-7 items-center gap-2 rounded-md border border-line bg-surface px-2 text-dim hover:border-strong-line"
      >
        <Icon name="search" size={14} />
        <span className="flex-1 text-left">Find</span>
        <Kbd>Ctrl K</Kbd>
      </button>
    </div>
  );
}

function Group({
  group,
  pages,
  path,
}: NavigationProps & { readonly group: (typeof GROUPS)[number] }): ReactElement | undefined {
  const members = pages.filter(({ nav }) => nav?.group === group);
  if (members.length === 0) return undefined;
  return (
    <div className="mt-3 first:mt-0">
      <p className="px-2 pb-1 text-xs text-dim" id={`nav-${group}`}>
        {group}
      </p>
      <ul aria-labelledby={`nav-${group}`}>
        {members.map(({ path: to, title, nav }) => {
          const isHere = to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`);
          return (
            <li key={to}>
              <Link
                to={to}
                aria-current={isHere ? 'page' : undefined}
                className="group flex h-7 items-center gap-2 rounded-md px-2 text-dim hover:bg-hover hover:text-text aria-[current=page]:bg-chosen aria-[current=page]:font-medium aria-[current=page]:text-text"
              >
                {nav !== undefined && <Icon name={nav.icon} />}
                <span className="flex-1">{title}</span>
                {nav?.key !== undefined && (
                  <span className="hidden text-xs text-dim group-hover:inline">g {nav.key}</span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const ROLES: Readonly<Record<Sight, string>> = { operator: 'Operator', admin: 'Admin', user: 'User', key: 'Member' };

function Foot({ console: { session, version }, path, onHelp }: NavigationProps): ReactElement {
  const isDark = useIsDark();
  return (
    <div className="flex items-center gap-0.5 border-t border-line p-2">
      <Link
        to="/ui/settings"
        aria-current={path === '/ui/settings' ? 'page' : undefined}
        title={`Signed in as ${nameOfSession(session)}: settings, sessions, sign out. Gateway ${version}`}
        className="flex h-7 min-w-0 flex-1 items-center gap-1.5 rounded-md px-1.5 text-dim hover:bg-hover hover:text-text"
      >
        <Icon name="user" />
        <span className="truncate">
          {session.subject.kind === 'user' ? nameOfSession(session) : ROLES[sightOf(session)]}
        </span>
      </Link>
      <IconButton icon={isDark ? 'sun' : 'moon'} label={isDark ? 'Light theme' : 'Dark theme'} onClick={toggleTheme} />
      <button
        type="button"
        aria-label="Keys"
        title="Keys (?)"
        onClick={onHelp}
        className="inline-flex size-7 items-center justify-center rounded-md text-dim hover:bg-hover hover:text-text"
      >
        ?
      </button>
    </div>
  );
}
