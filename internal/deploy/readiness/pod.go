package readiness

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podProblem says why a pod is not ready, "" if nothing is known. What keeps it from
// beginning counts before what its containers do.
func podProblem(pod *unstructured.Unstructured) string {
	if scheduled := condition(pod, "PodScheduled"); scheduled != nil && scheduled["status"] == "False" {
		return unscheduled(pod, scheduled)
	}
	if text(pod, "status", "phase") == "Failed" {
		return "it has failed" + inParentheses(reasonWord(text(pod, "status", "reason")))
	}
	var weak string
	for _, kind := range []struct{ field, name string }{{"initContainerStatuses", "init container "}, {"containerStatuses", "container "}} {
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", kind.field)
		for _, entry := range statuses {
			status, _ := entry.(map[string]any)
			problem, strong := containerProblem(&unstructured.Unstructured{Object: status})
			if problem = prefixed(kind.name+oneLine(fmt.Sprint(status["name"])), problem); strong {
				return problem
			}
			weak = cmp.Or(weak, problem)
		}
	}
	if gates := condition(pod, "Ready"); weak == "" && gates != nil && gates["status"] == "False" {
		reason, _ := gates["reason"].(string)
		return prefixed("its condition Ready is False", inParentheses(reasonWord(reason)))
	}
	return weak
}

func prefixed(what, problem string) string {
	if problem == "" {
		return ""
	}
	return what + problem
}

// unscheduled says what the scheduler says, with the claims that it may be about.
func unscheduled(pod *unstructured.Unstructured, condition map[string]any) string {
	reason, _ := condition["reason"].(string)
	message, _ := condition["message"].(string)
	problem := "it cannot be scheduled" + inParentheses(reasonWord(reason))
	if message = oneLine(message); message != "" {
		problem += ": " + message
	}
	if !strings.Contains(message, "PersistentVolumeClaim") {
		return problem
	}
	var claims []string
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, entry := range volumes {
		volume, _ := entry.(map[string]any)
		if claim, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName"); claim != "" && len(claims) < 3 {
			claims = append(claims, oneLine(claim))
		}
	}
	if len(claims) > 0 {
		problem += " (PersistentVolumeClaim " + strings.Join(claims, ", ") + ")"
	}
	return problem
}

// pulls are the reasons of a container whose image is not there.
var pulls = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}

// containerProblem says behind the name of a container why it is not ready. Strong says
// that it will not come by itself soon.
func containerProblem(status *unstructured.Unstructured) (problem string, strong bool) {
	waiting := reasonWord(text(status, "state", "waiting", "reason"))
	ended, _, _ := unstructured.NestedMap(status.Object, "state", "terminated")
	before, _, _ := unstructured.NestedMap(status.Object, "lastState", "terminated")
	ready, _, _ := unstructured.NestedBool(status.Object, "ready")
	switch {
	case slices.Contains(pulls, waiting):
		return " cannot pull image " + oneLine(text(status, "image")) + " (" + waiting + why(text(status, "state", "waiting", "message"), pullFailures) + ")", true
	case waiting == "CrashLoopBackOff":
		return " ends again and again (" + waiting + ")" + exit(before, ": ") + restarts(status), true
	case waiting == "PodInitializing", waiting == "ContainerCreating":
		return " is being created (" + waiting + ")", false
	case waiting != "":
		return " cannot be started (" + waiting + why(text(status, "state", "waiting", "message"), startFailures) + ")", true
	case len(ended) > 0 && number(&unstructured.Unstructured{Object: ended}, 0, "exitCode") != 0:
		return " has ended" + exit(ended, " with ") + restarts(status), true
	case len(ended) == 0 && !ready && status.Object["state"] != nil:
		return " runs, but is not ready" + exit(before, "; it ended before with ") + restarts(status), false
	}
	return "", false
}

// exit says how a container ended.
func exit(terminated map[string]any, before string) string {
	if len(terminated) == 0 {
		return ""
	}
	state := &unstructured.Unstructured{Object: terminated}
	reason := reasonWord(text(state, "reason"))
	if reason == "Error" {
		reason = "" // the code says it
	}
	return fmt.Sprintf("%sexit code %d%s", before, number(state, 0, "exitCode"), inParentheses(reason))
}

func restarts(status *unstructured.Unstructured) string {
	if count := number(status, 0, "restartCount"); count > 0 {
		return fmt.Sprintf(", %d restarts", count)
	}
	return ""
}

// reasonForm is what reasons look like.
var reasonForm = regexp.MustCompile(`^[A-Z][A-Za-z]{1,40}$`)

// reasonWord returns a reason, "" for anything else.
func reasonWord(said string) string {
	if reasonForm.MatchString(said) {
		return said
	}
	return ""
}

func inParentheses(word string) string {
	if word == "" {
		return ""
	}
	return " (" + word + ")"
}

// hint is what a node says in a message, and our words for it: messages of nodes quote
// commands, and what registries answer.
type hint struct {
	said  *regexp.Regexp
	words string
}

var (
	pullFailures = []hint{
		{regexp.MustCompile(`(?i)unauthorized|authentication required|denied|forbidden`), "the registry refuses it: check the pull secret"},
		{regexp.MustCompile(`(?i)not found|manifest unknown`), "not found"},
		{regexp.MustCompile(`(?i)too many requests|rate limit`), "the registry limits requests"},
		{regexp.MustCompile(`(?i)no such host`), "the name of the registry cannot be resolved"},
		{regexp.MustCompile(`(?i)x509|certificate`), "the certificate of the registry is not trusted"},
		{regexp.MustCompile(`(?i)connection refused|timeout|deadline exceeded`), "the registry does not answer"},
	}
	startFailures = []hint{
		{regexp.MustCompile(`^secret "([a-z0-9.-]{1,253})" not found`), "Secret $1 does not exist"},
		{regexp.MustCompile(`^configmap "([a-z0-9.-]{1,253})" not found`), "ConfigMap $1 does not exist"},
		{regexp.MustCompile(`^couldn't find key [-._a-zA-Z0-9]+ in (Secret|ConfigMap) ([a-z0-9.-]{1,253}/[a-z0-9.-]{1,253})`), "$1 $2 lacks a key"},
		{regexp.MustCompile(`runAsNonRoot and image will run as root`), "it must not run as root, and its image does"},
		{regexp.MustCompile(`executable file not found`), "its command does not exist in the image"},
	}
)

func why(message string, hints []hint) string {
	for _, known := range hints {
		if at := known.said.FindStringSubmatchIndex(message); at != nil {
			return ": " + string(known.said.ExpandString(nil, known.words, message, at))
		}
	}
	return ""
}
