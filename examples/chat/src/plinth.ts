/** The client of the project. The types of its tables come from the server: `plinth gen types`. */
import { createClient } from '@supabase/supabase-js';
import type { Database } from './database';

export const plinth = createClient<Database>(import.meta.env.VITE_PLINTH_URL, import.meta.env.VITE_ANON_KEY);
