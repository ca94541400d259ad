import { useQuery } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  useRouterState,
  type AnyRouter,
  type ErrorComponentProps,
} from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { asApiError } from './api/errors.ts';
import { sessionQuery } from './api/session.ts';
import { placeBefore, RETURN_PATH } from './api/sign-in.ts';
import { LinkButton } from './parts/button.tsx';
import { Page } from './parts/page.tsx';
import { parseSearch, stringifySearch } from './parts/search.ts';
import { Empty, Failure } from './parts/states.tsx';
import { PAGES } from './pages.ts';
import { Invitation } from './shell/invitation.tsx';
import { Layout } from './shell/layout.tsx';
import { SignIn } from './shell/sign-in.tsx';

/** The one router: every page of the list below one layout. */
export function createPages(): AnyRouter {
  const root = createRootRoute({ component: Root, notFoundComponent: NotFound });
  const routes = PAGES.map(({ path, load }) =>
    createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, 'Page') }),
  );
  const returned = createRoute({
    getParentRoute: () => root,
    path: RETURN_PATH,
    component: Returned,
  });
  const signedIn = createRoute({
    getParentRoute: () => root,
    path: '/ui/signin',
    component: () => <Navigate to="/" replace />,
  });
  return createRouter({
    routeTree: root.addChildren([...routes, signedIn, returned]),
    parseSearch,
    stringifySearch,
    defaultErrorComponent: BrokenPage,
    defaultNotFoundComponent: NotFound,
    defaultPreload: 'intent',
    scrollRestoration: false,
  });
}

/** Without a session there is the sign-in alone; when one ends, the sign-in opens over the page, which stays as it is. */
function Root(): ReactElement {
  const session = useQuery(sessionQuery);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  if (path === '/ui/invitation') return <Invitation />;
  if (session.data === undefined) {
    if (session.isPending) return <span />;
    return asApiError(session.error).status === 401 ? (
      <SignIn isOver={false} />
    ) : (
      <Away error={session.error} onRetry={() => void session.refetch()} />
    );
  }
  const isOver = session.isError && asApiError(session.error).status === 401;
  return (
    <>
      <div hidden={isOver}>
        <Layout console={session.data} />
      </div>
      {isOver && <SignIn isOver />}
    </>
  );
}

function Away({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }): ReactElement {
  return (
    <main className="flex min-h-screen flex-col justify-center">
      <h1 className="sr-only">Model Gateway</h1>
      <Failure error={asApiError(error)} onRetry={onRetry} />
    </main>
  );
}

/** After a sign-in with an identity provider: where it began. */
function Returned(): ReactElement {
  const [place] = useState(placeBefore);
  return <Navigate to={place} replace />;
}

function NotFound(): ReactElement {
  return (
    <Page title="No such page">
      <Empty title="There is no page at this address." action={<LinkButton to="/">Overview</LinkButton>}>
        <p>The link may be of another version of the gateway. Ctrl K finds every page.</p>
      </Empty>
    </Page>
  );
}

/** A page that breaks shows its own error and leaves the rest. */
function BrokenPage({ error, reset }: ErrorComponentProps): ReactElement {
  return (
    <Page title="This page broke">
      <Failure error={asApiError(error)} onRetry={reset} />
    </Page>
  );
}
