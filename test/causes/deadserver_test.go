package causes

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// TestDeadServer looks while no server runs. Nothing is written then: a status shows the state
// before, and kubectl shows nothing about a request that was not picked up. The command line works
// out what is waited for.
func TestDeadServer(t *testing.T) {
	server := startServer(t)
	at := len(catalogue())
	for i, r := range deadServer() {
		for _, depth := range []int{0, 3} {
			if depth > 0 && r.onlyRoots != "" {
				continue
			}
			t.Run(r.fault, func(t *testing.T) { playDead(t, server, r, at+i, depth) })
		}
	}
}

// playDead plays a row, kills the server in the middle of it, and starts the server again
// after the look: everything ends.
func playDead(t *testing.T, server *scenario.Server, r row, at, depth int) {
	s := newStage(t, spaceOf(r, depth), depth)
	made, before := r.cause(s).installation(s.space, "shop", depth), ""
	if r.waits {
		s.root = env.Create(t, made)
		s.awaitWait(r, "")
		s.bestLook(r.names, true, "")
	} else if r.then != nil {
		s.root = env.WaitSucceeded(t, env.Create(t, made))
		before = s.root.Status.JobID
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	switch {
	case r.then != nil:
		r.then(s)
	case !r.waits:
		s.root = env.Create(t, made)
	}
	seen := s.look()
	s.keep(during, seen)
	verdict := r.names.judge(seen, s.space)
	for _, surface := range r.silent {
		verdict[surface] = "...."
	}
	results.add(result{area: r.area, fault: r.fault, at: at, depth: depth, when: during, verdict: verdict})
	if !verdict.full() {
		t.Errorf("%s\n%s", verdict.missing(), seen)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.end != nil {
		r.end(s)
	}
	env.WaitFinished(t, s.root, before)
}

// deadServer are the faults of a server that does not run.
func deadServer() []row {
	const area = "dead server"
	// pickedUp lets all but the lowest Installation have a job, as a server leaves them that
	// dies in between.
	pickedUp := func(s *stage) {
		list := &v1alpha1.InstallationList{}
		if err := env.Admin.List(s.Context(), list, client.InNamespace(s.space)); err != nil {
			s.Fatal(err)
		}
		for i := range list.Items {
			inst := &list.Items[i]
			if inst.Status.SubInstCache == nil || len(inst.Status.SubInstCache.ActiveSubs) == 0 {
				continue
			}
			inst.Status.JobID, inst.Status.InstallationPhase = "picked-up", v1alpha1.InstallationPhases.Progressing
			if err := env.Admin.Status().Update(s.Context(), inst); err != nil {
				s.Fatal(err)
			}
		}
	}
	return []row{
		{area: area, fault: "while an item waits", waits: true, cause: func(s *stage) given {
			return given{items: list{with(waiting(s, "one"), "timeout", "5m")}}
		}, end: interrupt, names: names{reason: `\.?data\.state`, object: `ConfigMap "?NS/one`, cluster: `north`, next: `check "?open`}},
		{area: area, fault: "before a request", cause: func(s *stage) given { return app(s) }, silent: []string{"kubectl"},
			onlyRoots: "requests are for roots",
			names:     names{reason: `has not been picked up`, object: `operation "reconcile"`, next: `landscaper-cli doctor`}},
		{area: area, fault: "before a subinstallation is picked up", cause: func(s *stage) given {
			return given{blueprint: m{"subinstallations": list{app(s).template("part")}}}
		}, then: pickedUp, silent: []string{"kubectl"},
			names: names{reason: `its controller has not picked it up`, object: `Installation part-|in .*part\b`, next: `landscaper-cli doctor`}},
	}
}
