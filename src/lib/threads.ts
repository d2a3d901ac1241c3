/**
 * How many threads the process has for what Node cannot do without one, such as looking up a host name as the system
 * does. At most half of them look up names. With Node's four, two names whose name server hangs, such as those of rate
 * sources, would keep everything else from being looked up, and the database could not be reached by its name.
 *
 * Import this before anything else: the threads are started with their first work.
 */
process.env.UV_THREADPOOL_SIZE ||= '32';
