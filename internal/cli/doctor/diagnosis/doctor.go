// Package diagnosis judges a whole set-up from what was seen of it: what is wrong, and what
// to do about it.
package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	OK      Severity = "ok"
	Warning Severity = "warning"
	Problem Severity = "problem"
)

// Finding is the result of a check.
type Finding struct {
	// Check names what was looked at.
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	// Message tells what was found, Remedy what to do about it.
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Facts are what was seen.
type Facts struct {
	// Now is the time of this machine, Server that of the API server; zero if it did not
	// tell.
	Now, Server time.Time
	// Version is that of the API server.
	Version string
	// Definitions are the revisions of the installed definitions by their names; "" for
	// one without. Nil if they may not be read. Wanted are those of this release.
	Definitions, Wanted map[string]string
	// Snapshot are the objects, Healths what servers say of themselves.
	Snapshot inspect.Snapshot
	Healths  []v1alpha1.LsHealthCheck
	// Leases are those by which servers agree which of them works.
	Leases []Lease
	// Denied are permissions that are missing, such as "list installations".
	Denied []string
	// Targets are the errors of connections by "namespace/name"; nil for a good one.
	Targets map[string]error
	// Unasked are those that are reached with a token which was not requested.
	Unasked map[string]error
}

// Lease tells which server works, and when it said so last.
type Lease struct {
	Namespace string
	// Holder is the server; "" if it has given the lease back.
	Holder  string
	Renewed time.Time
}

const (
	// skew is by how much clocks may differ before times in messages are misleading.
	skew = 5 * time.Second
	// silence is how old what a server says of itself may be.
	silence = 3 * time.Minute
	// lapse is how old a lease may be; a server renews it every few seconds.
	lapse = time.Minute
	// pickup is how long a request may wait to be picked up.
	pickup = 2 * time.Minute
	// stuck is how long a deletion may take before it is reported.
	stuck = 15 * time.Minute
)

// present is the time from which ages are counted: the start times were written by the API
// server, or by controllers whose clocks are closer to its clock than to ours.
func (f Facts) present() time.Time {
	if f.Server.IsZero() {
		return f.Now
	}
	return f.Server
}

// Judge returns all findings, the checks in a fixed order.
//
// A check without findings is reported as well: the user wants to know what was checked.
func Judge(facts Facts) []Finding {
	var findings []Finding
	for _, check := range []struct {
		name, fine string
		judge      func(Facts) []Finding
	}{
		{"API server", "it answers, version " + facts.Version, nothing},
		{"definitions", "all are installed and fit this release", judgeDefinitions},
		{"permissions", "you may read everything that is looked at here", judgePermissions},
		{"clocks", "this machine and the API server agree", judgeClocks},
		{"controllers", running(facts) + "nothing waits to be picked up", judgeControllers},
		{"deployers", "no item waits to be picked up", judgeDeployers},
		{"targets", fmt.Sprintf("all clusters answer (%d)", len(facts.Targets)), judgeTargets},
		{"deletions", "none is stuck", judgeDeletions},
		{"jobs", "no root has failed", judgeJobs},
	} {
		found := check.judge(facts)
		if len(found) == 0 {
			found = []Finding{{Severity: OK, Message: check.fine}}
		}
		for _, finding := range found {
			finding.Check = check.name
			findings = append(findings, finding)
		}
	}
	return findings
}

func nothing(Facts) []Finding { return nil }

func judgeDefinitions(facts Facts) []Finding {
	if facts.Definitions == nil {
		return []Finding{{Severity: Warning, Message: "you may not read CustomResourceDefinitions, so that their versions are not known", Remedy: "ask an administrator to run this command"}}
	}
	const remedy = "run landscaper install with the release that runs there"
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(facts.Wanted)) {
		installed, there := facts.Definitions[name]
		have, haveErr := strconv.Atoi(installed)
		want, wantErr := strconv.Atoi(facts.Wanted[name])
		switch {
		case !there:
			findings = append(findings, Finding{Severity: Problem, Message: name + " is not installed", Remedy: remedy})
		case haveErr != nil || wantErr != nil:
			// Another distribution installed it.
		case have < want:
			findings = append(findings, Finding{Severity: Warning, Message: fmt.Sprintf("%s is older (revision %d) than this program (%d)", name, have, want), Remedy: remedy})
		case have > want:
			findings = append(findings, Finding{Severity: Warning, Message: fmt.Sprintf("%s is newer (revision %d) than this program (%d)", name, have, want), Remedy: "use the command line of the newer release"})
		}
	}
	return findings
}

func judgePermissions(facts Facts) []Finding {
	var findings []Finding
	for _, denied := range facts.Denied {
		findings = append(findings, Finding{Severity: Warning, Message: "you may not " + denied + ", so that something may be missing below", Remedy: "ask an administrator for the permission, or to run this command"})
	}
	return findings
}

func judgeClocks(facts Facts) []Finding {
	difference := facts.Now.Sub(facts.Server)
	if facts.Server.IsZero() || difference.Abs() <= skew {
		return nil
	}
	return []Finding{{
		Severity: Warning, Message: fmt.Sprintf("the clock of this machine differs from that of the API server by %s", difference.Round(time.Second)),
		Remedy: "synchronise the clocks: durations that are shown, and the validity of tokens and certificates, depend on them",
	}}
}

// running tells that a server is known to run. One that runs without a lease does not
// tell.
func running(facts Facts) string {
	if len(facts.Leases) == 0 {
		return ""
	}
	return "a server runs, and "
}

// judgeLeases looks for servers that do not run. One that was moved leaves its lease where
// it was: beside a server that runs, that is worth a look, but no problem.
func judgeLeases(facts Facts) []Finding {
	severity := Problem
	if slices.ContainsFunc(facts.Leases, func(lease Lease) bool { return lease.lapsed(facts.present()) == "" }) {
		severity = Warning
	}
	var findings []Finding
	for _, lease := range facts.Leases {
		if why := lease.lapsed(facts.present()); why != "" {
			findings = append(findings, Finding{
				Severity: severity, Message: why,
				Remedy: "look at the Deployment of the server in namespace " + lease.Namespace + "; if it does not exist any more, delete the Lease " + v1alpha1.ServerLease,
			})
		}
	}
	return findings
}

// lapsed says why a lease has no active holder; "" if it has one.
func (l Lease) lapsed(now time.Time) string {
	switch age := now.Sub(l.Renewed); {
	case l.Holder == "":
		return "no server runs in namespace " + l.Namespace + ": its lease has no holder"
	case age > lapse:
		return fmt.Sprintf("the server %s in namespace %s does not run: it last renewed its lease %s ago", l.Holder, l.Namespace, age.Round(time.Second))
	}
	return ""
}

func judgeControllers(facts Facts) []Finding {
	findings := judgeLeases(facts)
	for _, health := range facts.Healths {
		name := health.Namespace + "/" + health.Name
		age := facts.present().Sub(health.LastUpdateTime.Time)
		switch {
		case health.Status == v1alpha1.LsHealthCheckStatusFailed:
			findings = append(findings, Finding{Severity: Problem, Message: fmt.Sprintf("LsHealthCheck %s: %s", name, health.Description), Remedy: "look at the log of the server in namespace " + health.Namespace})
		case age > silence:
			findings = append(findings, Finding{Severity: Problem, Message: fmt.Sprintf("LsHealthCheck %s was last updated %s ago: the server does not run", name, age.Round(time.Second)), Remedy: "look at the Deployment of the server in namespace " + health.Namespace})
		}
	}
	for _, inst := range facts.Snapshot.Installations {
		operation, asked := inst.Annotations[v1alpha1.OperationAnnotation]
		if job.Admitted(inst) {
			operation, asked = string(v1alpha1.ReconcileOperation), true
		}
		idle := !job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) && inspect.Deferral(inst) == ""
		since := lastTouched(inst)
		if asked && idle && !since.IsZero() && facts.present().Sub(since) > pickup {
			findings = append(findings, Finding{
				Severity: Problem, Message: fmt.Sprintf("operation %q of Installation %s/%s has waited since %s", operation, inst.Namespace, inst.Name, since.UTC().Format(time.RFC3339)),
				Remedy: "see that the server runs, with the controller installation, and for this namespace",
			})
		}
	}
	for _, root := range inspect.Forest(facts.Snapshot) {
		root.Walk(func(node *inspect.Node) {
			if !node.Queued() || node.Kind == inspect.KindDeployItem || !facts.late(node.Since()) {
				return
			}
			findings = append(findings, Finding{
				Severity: Problem, Message: fmt.Sprintf("the job of %s %s/%s has waited since %s", node.Kind, node.Namespace, node.Name, node.Since().UTC().Format(time.RFC3339)),
				Remedy: "see that the server runs, with the controller " + strings.ToLower(string(node.Kind)),
			})
		})
	}
	return findings
}

// late reports whether a request that has waited since then should have been picked up.
func (f Facts) late(since *metav1.Time) bool {
	return since != nil && f.present().Sub(since.Time) > pickup
}

// lastTouched is when the metadata or the specification of an Installation was last
// written by any client, as far as that is recorded.
//
// The time at which an annotation was set is not recorded. A later write of another client
// makes a request look younger than it is, never older.
func lastTouched(inst *v1alpha1.Installation) time.Time {
	latest := inst.CreationTimestamp.Time
	for _, entry := range inst.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(latest) {
			latest = entry.Time.Time
		}
	}
	return latest
}

func judgeDeployers(facts Facts) []Finding {
	waiting := map[v1alpha1.DeployItemType][]string{}
	wait := func(item *v1alpha1.DeployItem, since *metav1.Time) {
		if facts.late(since) {
			waiting[item.Spec.Type] = append(waiting[item.Spec.Type], item.Namespace+"/"+item.Name)
		}
	}
	for _, item := range facts.Snapshot.DeployItems {
		times := item.Status.TransitionTimes
		if job.Starting(item.Status.JobID, item.Status.JobIDFinished, string(item.Status.Phase)) && times != nil {
			wait(item, times.TriggerTime)
		}
	}
	// Where an Execution and a deployer share a process, no status shows the job yet.
	for _, root := range inspect.Forest(facts.Snapshot) {
		root.Walk(func(node *inspect.Node) {
			if node.Queued() && node.Kind == inspect.KindDeployItem {
				wait(node.DeployItem, node.Since())
			}
		})
	}
	var findings []Finding
	for _, kind := range slices.Sorted(maps.Keys(waiting)) {
		findings = append(findings, Finding{
			Severity: Problem, Message: fmt.Sprintf("items of type %s wait to be picked up: %d, such as %s", kind, len(waiting[kind]), waiting[kind][0]),
			Remedy: "see that a deployer for this type runs, that it is for the Target of the item, and that it has no more work than its workers can do",
		})
	}
	return findings
}

func judgeTargets(facts Facts) []Finding {
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(facts.Targets)) {
		if err := facts.Targets[name]; err != nil {
			findings = append(findings, Finding{Severity: Problem, Message: fmt.Sprintf("Target %s: %v", name, err), Remedy: "correct the Target or its Secret; the network from here may differ from that of the deployers"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(facts.Unasked)) {
		findings = append(findings, Finding{Severity: Warning, Message: fmt.Sprintf("Target %s was not looked at: %v", name, facts.Unasked[name]), Remedy: "tokens are requested with your permissions: allow it with --request-tokens"})
	}
	return findings
}

func judgeDeletions(facts Facts) []Finding {
	var findings []Finding
	seen := map[metav1.Object]bool{}
	judge := func(kind inspect.Kind, object metav1.Object, why, resort string) {
		seen[object] = true
		if object.GetDeletionTimestamp() == nil || facts.present().Sub(object.GetDeletionTimestamp().Time) <= stuck {
			return
		}
		findings = append(findings, Finding{
			Severity: Warning, Message: fmt.Sprintf("%s %s/%s is being deleted since %s, with the finalizers %v: %s", kind, object.GetNamespace(), object.GetName(),
				object.GetDeletionTimestamp().UTC().Format(time.RFC3339), object.GetFinalizers(), cmp.Or(why, "it does not tell why")),
			Remedy: "remove the cause; as a last resort, " + resort + " gives up what was deployed",
		})
	}
	for _, root := range inspect.Forest(facts.Snapshot) {
		root.Walk(func(node *inspect.Node) {
			if object := node.Object(); object != nil {
				judge(node.Kind, object, node.Why(), "landscaper-cli installations force-delete")
			}
		})
	}
	// An object that has lost its parent is in no tree.
	const lost, byHand = "its owner does not exist any more", "removing the finalizers with kubectl"
	for _, exec := range facts.Snapshot.Executions {
		if !seen[exec] {
			judge(inspect.KindExecution, exec, lost, byHand)
		}
	}
	for _, item := range facts.Snapshot.DeployItems {
		if !seen[item] {
			judge(inspect.KindDeployItem, item, lost, byHand)
		}
	}
	return findings
}

func judgeJobs(facts Facts) []Finding {
	var findings []Finding
	for _, root := range inspect.Forest(facts.Snapshot) {
		switch {
		case root.Orphaned:
			findings = append(findings, Finding{Severity: Warning, Message: fmt.Sprintf("Installation %s/%s is a part of one that does not exist", root.Namespace, root.Name), Remedy: "delete it, or restore the parent"})
		case root.Failed():
			why := root.Why()
			if causes := inspect.Blockers(root); len(causes) > 0 {
				why = fmt.Sprintf("%s %s: %s", causes[0].Kind, causes[0].Name, causes[0].Why())
			}
			findings = append(findings, Finding{Severity: Warning, Message: fmt.Sprintf("Installation %s/%s has failed: %s", root.Namespace, root.Name, why), Remedy: "remove the cause, and run landscaper-cli installations rerun --failed -n " + root.Namespace})
		}
	}
	return findings
}
