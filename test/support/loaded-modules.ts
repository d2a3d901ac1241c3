import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Preloaded into a process. When it exits, it writes the URLs of all modules that it loaded to `LOADED_MODULES`. */
const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.LOADED_MODULES as string, loaded.join('\n')));
