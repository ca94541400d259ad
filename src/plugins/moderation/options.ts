import { z } from 'zod';

export const moderationOptions = z.object({});
