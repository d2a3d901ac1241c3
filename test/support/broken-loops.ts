/**
 * Loaded before a service (`node --import`): from SIGUSR2 on its loops cannot decide how long to rest, a fault that
 * nothing in the service expects.
 */
process.on('SIGUSR2', () => {
  Math.random = () => {
    throw new Error('a fault that nobody expects');
  };
});
