# SPDX-License-Identifier: BSD-3-Clause
"""Which options of the launchers take how many values: what it takes to find the program in a command line.

Sources: `mpiexec -help` and options.c of MPICH 5.0 (Hydra), `mpiexec -help` of Intel MPI 2021.19, `mpirun --help all`
of Open MPI 4.1, the option tables of Open MPI 5.0 (PRRTE 3), srun(1) of Slurm 24, flux-run(1) of Flux 0.5x, IBM's page
on jsrun, HPE's on aprun, the usage of mpirun_rsh of MVAPICH 2.3, TACC's guides for ibrun.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options by name, without dashes. What is in neither set may or may not take a value: nobody knows."""

    values: dict[str, int]
    """Options that take values, with their number."""
    flags: frozenset[str]
    """Options that take none."""
    programs_elsewhere: frozenset[str]
    """Options by which the programs stand in a file."""
    directory: frozenset[str]
    """Options that name the directory in which the program starts."""
    assigning: frozenset[str]
    """Options whose value is NAME=VALUE, or a NAME whose value is the launcher's own, for the program's environment."""
    one_letter_groups: bool = False
    """Whether `-ln4` means `-l -n 4`."""
    separates: bool = True
    """Whether `:` separates programs."""


def _options(
    *,
    one: str,
    two: str = "",
    none: str = "",
    elsewhere: str = "",
    directory: str = "",
    assigning: str = "",
    one_letter_groups: bool = False,
    separates: bool = True,
) -> Options:
    values = dict.fromkeys(one.split(), 1) | dict.fromkeys(two.split(), 2)
    names = (frozenset(text.split()) for text in (none, elsewhere, directory, assigning))
    return Options(values, *names, one_letter_groups=one_letter_groups, separates=separates)


HYDRA = _options(
    two="genv env",
    one="""
    f hostfile machinefile machine machines machinelist host hosts hostlist hosts-group rankmap ppn perhost grr
    genvlist envlist genvexcl envexcl n np wdir gwdir path gpath umask hostos
    launcher launcher-exec bootstrap bootstrap-exec bootstrap-exec-args rmk branch-count pmi-connect
    topolib binding bind-to map-by membind cpu-bind demux g gpus-per-proc gpu-subdevs-per-proc memory-alloc-kinds
    iface localhost nameserver order-nodes usize tmpdir s tune gtool gtoolfile
    output-from prepend-pattern outfile-pattern errfile-pattern outfile errfile configfile
    """,
    none="""
    h help genvnone genvall envnone envall profile prepend-rank l prepend-timestamp ordered-output
    enable-x disable-x debug v verbose V version info print-all-exitcodes print-rank-map prot silent-abort
    disable-auto-cleanup enable-auto-cleanup cleanup disable-hostname-propagation enable-hostname-propagation
    hybrid-hosts pmi-port pmi-aggregate pmi-noaggregate skip-launch-node nolocal localonly localroot use-app-topology
    rr aps mps tv gdb check-mpi trace noconf ilp64
    """,
    elsewhere="configfile",
    directory="wdir gwdir",
)

OPENMPI = _options(
    two="mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca",
    one="""
    n np c N H host hostfile machinefile default-hostfile add-host add-hostfile rf rankfile
    map-by mapby rank-by rankby bind-to bindto ppr npernode npersocket cpu-list cpu-set cpus-per-proc cpus-per-rank
    cf cartofile max-vm-size pset gpu-support
    x wd wdir path prefix app-pmix-prefix pmix-prefix preload-files unset-env append-env prepend-env
    am amca app tune stdin output output-directory output-filename display xterm xml-file stream-buffering
    timeout spawn-timeout report-events report-pid report-uri debugger launch-agent exec-agent personality
    runtime-options rtos memory-alloc-kinds with-ft initial-errhandler max-restarts forward-signals tmpdir
    ompi-server hnp dvm-uri dvm-master-uri prte-server namespace pid num-connect-retries wait-to-connect keepalive
    """,
    none="""
    h help V version v verbose q quiet allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot
    pernode nolocal oversubscribe nooversubscribe use-hwthread-cpus use-regexp no-local no-oversubscribe
    d debug-devel debug debug-daemons debug-daemons-file leave-session-attached test-suicide tv
    display-allocation display-devel-allocation display-map display-devel-map display-diffable-map
    report-bindings report-child-jobs-separately report-state-on-timeout get-stack-traces show-progress
    tag-output timestamp-output merge-stderr-to-stdout xml parsable parseable output-proctable
    do-not-launch do-not-resolve do-not-connect continuous enable-recovery disable-recovery
    enable-instant-on-support fwd-mpirun-port index-argv-by-rank noprefix no-app-prefix novm s preload-binary
    set-cwd-to-session-dir set-sid daemonize no-ready-msg stop-on-exec stop-in-init stop-in-app hetero-nodes
    display-comm display-comm-finalize
    """,
    elsewhere="app",
    directory="wdir wd",
    assigning="x",
)

SRUN = _options(
    one="""
    A account accel-bind acctg-freq b begin bb bbf bcast-exclude c cpus-per-task cpu-bind cpu_bind cpu-freq
    cluster-constraint M clusters cluster comment C constraint container container-id S core-spec cores-per-socket
    cpus-per-gpu deadline delay-boot d dependency D chdir e error epilog x exclude export B extra-node-info extra gid
    G gpus gpu-bind gpu-freq gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group hint i input
    J job-name jobid L licenses mail-type mail-user mcs-label mem mem-bind mem_bind mem-per-cpu mem-per-gpu
    m distribution mincpus mpi msg-timeout network N nodes w nodelist F nodefile n ntasks ntasks-per-core
    ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode o output power priority profile prolog
    q qos p partition prefer r relative reservation signal slurmd-debug sockets-per-node switches task-epilog
    task-prolog thread-spec threads-per-core T threads t time time-min tmp treewidth tres-bind tres-per-task uid
    W wait wckey
    """,
    none="""
    h help usage V version E preserve-env exclusive bcast compress immediate I K kill-on-bad-exit k no-kill nice l
    label multi-prog contiguous exact overlap interactive H hold O overcommit s oversubscribe propagate
    quit-on-interrupt Q quiet v verbose pty reboot resv-ports send-libs spread-job stepmgr test-only u unbuffered
    use-min-nodes X disable-status Z no-allocate x11
    """,
    elsewhere="multi-prog",
    directory="D chdir",
    one_letter_groups=True,
)

FLUX = _options(
    one="""
    q queue B bank t time-limit urgency job-name o setopt S setattr add-file dependency requires begin-time
    env env-remove env-file rlimit input output error cwd flags signal taskmap wait-event
    n ntasks N nodes c cores-per-task g gpus-per-task cores tasks-per-node tasks-per-core gpus-per-node
    """,
    none="h help u unbuffered l label-io dry-run quiet x exclusive v verbose unordered",
    directory="cwd",
    assigning="env",
    one_letter_groups=True,
    separates=False,
)

JSRUN = _options(
    one="""
    A allocate_only erf_input erf_output erf_output_pidx H launch_node_task J use_reservation L use_spindle M smpiargs
    P pre_post_exec S save_resources U use_resources x exclude_hosts X exit_on_error Z progress print_placement
    b bind D env_no_propagate E env F env_eval n nrs c cpu_per_rs g gpu_per_rs m memory_per_rs r rs_per_host
    K rs_per_socket l latency_priority a tasks_per_rs p np f appfile d launch_distribution t stdio_input
    o stdio_stdout e stdio_mode k stdio_stderr h chdir u debug
    """,
    none="i immediate help usage V version",
    elsewhere="f appfile erf_input",
    directory="h chdir",
    assigning="E env",
    one_letter_groups=True,
)

APRUN = _options(
    one="""
    a architecture cc cpu-binding cp cpu-binding-file d depth D debug e environment-override F access-mode
    j cpus-per-cu L node-list l node-list-file m memory-per-pe n pes N pes-per-node p protection-domain
    P pipes r specialized-cpus R relaunch S pes-per-numa-node sl numa-node-list sn numa-nodes-per-node t cpu-time-limit
    """,
    none="""
    b bypass-app-transfer B batch-args C reconnect q quiet ss strict-memory-containment T sync-output help version
    """,
    assigning="e environment-override",
)

IBRUN = _options(one="n np o", none="v h", separates=False)

MPIRUN_RSH = _options(
    one="np n hostfile sg config",
    none="v rsh ssh debug tv xterm show legacy export export-all h help",
    elsewhere="config",
)
