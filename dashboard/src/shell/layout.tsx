import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Fragment, useEffect, useState, type ReactElement } from 'react';
import { forgetCalls } from '../api/calls.ts';
import { sightOf, type Console } from '../api/session.ts';
import { rememberKey, useHotkeys } from '../parts/hotkeys.ts';
import { toggleTheme } from '../parts/preferences/theme.ts';
import { useZone } from '../parts/preferences/zone.ts';
import { isShownTo, PAGES, type PageEntry } from '../pages.ts';
import type { Command } from './commands.ts';
import { Help } from './help.tsx';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette.tsx';

/** Navigation beside the page, and what works on every page. */
export function Layout({ console }: { readonly console: Console }): ReactElement {
  const [open, setOpen] = useState<'palette' | 'help' | 'navigation'>();
  const isOperator = console.session.role === 'operator';
  const pages = PAGES.filter((page) => isShownTo(page, sightOf(console.session)));
  const navigate = useNavigate();
  const zone = useZone();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    forgetCalls();
    setOpen(undefined);
  }, [path]);
  useEffect(() => {
    window.addEventListener('keydown', rememberKey);
    return () => window.removeEventListener('keydown', rememberKey);
  }, []);
  useHotkeys({
    'Ctrl+k': () => setOpen('palette'),
    '?': () => setOpen('help'),
    t: toggleTheme,
    c: () => void navigator.clipboard.writeText(location.href),
    '/': () => document.querySelector<HTMLElement>('[data-filter]')?.focus(),
    ...Object.fromEntries(
      pages.flatMap(({ nav, path: to }) =>
        nav?.key === undefined ? [] : [[`g ${nav.key}`, () => void navigate({ to })]],
      ),
    ),
  });
  return (
    <div className="flex h-dvh">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-accent-solid px-3 py-2 text-white focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <Navigation
        pages={pages}
        path={path}
        console={console}
        isOpen={open === 'navigation'}
        onOpen={(isOpen) => setOpen(isOpen ? 'navigation' : undefined)}
        onFind={() => setOpen('palette')}
        onHelp={() => setOpen('help')}
      />
      <div className="flex min-w-0 flex-1 flex-col max-lg:pt-11">
        {console.isPlainHttp && (
          <p role="note" className="bg-warn-soft px-4 py-1 text-warn">
            This address has no TLS: every machine on the way can read keys and sessions. Take{' '}
            <code className="font-mono">console.plain_http</code> out of the configuration when it has.
          </p>
        )}
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto">
          {/* Every moment of the page is drawn anew in another zone. */}
          <Fragment key={zone}>
            <Outlet />
          </Fragment>
        </main>
      </div>
      <Palette
        isOpen={open === 'palette'}
        onClose={() => setOpen(undefined)}
        commands={toCommands(pages)}
        isOperator={isOperator}
      />
      <Help
        isOpen={open === 'help'}
        onClose={() => setOpen(undefined)}
        pages={pages.flatMap(({ nav, title }) => (nav?.key === undefined ? [] : [[nav.key, title] as const]))}
      />
    </div>
  );
}

function toCommands(pages: readonly PageEntry[]): readonly Command[] {
  const places = pages
    .filter(({ path }) => !path.includes('$') && path !== '/ui/authorize')
    .map(({ path, title, nav }): Command => ({
      kind: 'page',
      name: title,
      to: path,
      icon: nav?.icon ?? 'start',
      ...(nav?.key !== undefined && { hotkey: `g ${nav.key}` }),
    }));
  return [
    ...places,
    { kind: 'action', name: 'Switch between dark and light', icon: 'moon', hotkey: 't', run: toggleTheme },
  ];
}
