import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/read.ts';
import { sessionQuery, whenSessionChanges } from './api/session.ts';
import { whenUnauthorized } from './api/transport.ts';
import { applyTheme } from './parts/preferences/theme.ts';
import { loadZone } from './parts/preferences/zone.ts';
import { createPages } from './routes.tsx';
import './styles.css';

const queries = createQueryClient();
const router = createPages();
applyTheme();
loadZone();
whenUnauthorized(() => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));
whenSessionChanges(() => location.reload());

const root = document.querySelector('#root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
