package clustererror

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tellers know the forms of messages in which API servers refuse a request, with parts that belong
// to the cluster: names that its administrators gave, limits that they set. Only such parts are
// repeated, only in their expected form, and never a value of the request. Each returns "" for any
// other message.
var tellers = []func(said string, about *request) string{
	tellPolicy, tellWebhook, tellSilentWebhook, tellQuota, tellUnspecified, tellUncounted, tellLimits, tellPodSecurity, tellPermission,
}

// quoted returns the parts of a message that belong to the cluster; "" if its form is unknown.
// About is the request, nil if it is unknown: then nothing is repeated.
func quoted(said string, about *request) string {
	if about == nil || len(said) > maxFailure {
		return ""
	}
	for _, tell := range tellers {
		if result := tell(said, about); result != "" {
			return result
		}
	}
	return ""
}

// Said returns the parts of a message in the status of an object that belong to the cluster: names,
// and nothing that may be a value; "" if its form is unknown.
func Said(message string) string { return words(message, &request{}) }

const (
	// maxName is how long a repeated name may be: usual names are shorter.
	maxName = 100
	// maxParts is how many parts of one kind are repeated.
	maxParts = 8
)

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	resourceForm = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9./_-]*[a-zA-Z0-9])?$`)
	amountForm   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9./_-]*=[0-9]+(\.[0-9]+)?[a-zA-Z]{0,2}$`)
)

// name returns a name of the cluster, "" for anything else and for a value of the request.
func (r *request) name(said string) string { return r.like(nameForm, said) }

func (r *request) like(form *regexp.Regexp, said string) string {
	if len(said) > maxName || !form.MatchString(said) || r.mentions(said) {
		return ""
	}
	return said
}

// all returns the parts of a list that are of a form.
func (r *request) all(form *regexp.Regexp, parts []string) []string {
	var known []string
	for _, part := range parts {
		if part = r.like(form, strings.TrimSpace(part)); part != "" && !slices.Contains(known, part) && len(known) < maxParts {
			known = append(known, part)
		}
	}
	return known
}

var policyForm = regexp.MustCompile(`(?s)olicy '([^']*)' with binding '([^']*)' denied request: (.*)`)

// tellPolicy names the policy. Its message may be computed from the object, so that words
// of the object are left out.
func tellPolicy(said string, about *request) string {
	parts := policyForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	policy, binding := about.name(parts[1]), about.name(parts[2])
	if policy == "" {
		return ""
	}
	result := "admission policy " + policy
	if binding != "" && binding != policy {
		result += " (binding " + binding + ")"
	}
	result += " of the cluster refuses it"
	if message := about.masked(parts[3]); message != "" {
		result += `: "` + message + `"`
	}
	return result
}

var webhookForm = regexp.MustCompile(`admission webhook "([^"]*)" denied the request`)

// tellWebhook names the webhook. Its message may hold anything, and is left out.
func tellWebhook(said string, about *request) string {
	parts := webhookForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	if webhook := about.name(parts[1]); webhook != "" {
		return "admission webhook " + webhook + " of the cluster refuses it"
	}
	return ""
}

var (
	silentWebhookForm = regexp.MustCompile(`(?s)failed calling webhook "([^"]*)": (.*)`)
	webhookService    = regexp.MustCompile(`https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc[:/]`)
)

// silences are the reasons why a webhook is not reached, by the text of API servers.
var silences = []struct{ said, result string }{
	{"no endpoints available for service", "its Service has no pods that are ready"},
	{"connection refused", "connection refused"},
	{"no such host", "its name cannot be resolved"},
	{"x509", "its certificate is not trusted"},
	{"tls:", "its certificate is not trusted"},
	{"not found", "its Service does not exist"},
	{"deadline exceeded", "no answer in time"},
	{"Client.Timeout", "no answer in time"},
	{"i/o timeout", "no answer in time"},
	{"EOF", "it ended the connection"},
}

func tellSilentWebhook(said string, about *request) string {
	parts := silentWebhookForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	webhook := about.name(parts[1])
	if webhook == "" {
		return ""
	}
	result := "admission webhook " + webhook + " of the cluster cannot be asked"
	if service := webhookService.FindStringSubmatch(parts[2]); service != nil && about.name(service[1]) != "" && about.name(service[2]) != "" {
		result += " at Service " + service[2] + "/" + service[1]
	}
	if at := slices.IndexFunc(silences, func(s struct{ said, result string }) bool { return strings.Contains(parts[2], s.said) }); at >= 0 {
		result += " (" + silences[at].result + ")"
	}
	return result + ": repair it, or remove its configuration"
}

var quotaForm = regexp.MustCompile(`exceeded quota: ([^,\s]+), requested: (\S+), used: (\S+), limited: (\S+)`)

func tellQuota(said string, about *request) string {
	parts := quotaForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	quota := about.name(parts[1])
	if quota == "" {
		return ""
	}
	var amounts []string
	for i, what := range []string{"requested", "used", "limit"} {
		if list := about.all(amountForm, strings.Split(parts[i+2], ",")); len(list) > 0 {
			amounts = append(amounts, what+" "+strings.Join(list, ", "))
		}
	}
	result := "quota " + quota + " of the namespace is used up"
	if len(amounts) > 0 {
		result += " (" + strings.Join(amounts, "; ") + ")"
	}
	return result
}

var unspecifiedForm = regexp.MustCompile(`failed quota: ([^:\s]+): must specify (.*)`)

// tellUnspecified names the resources that a quota wants containers to specify; the names of the
// containers are from the request.
func tellUnspecified(said string, about *request) string {
	parts := unspecifiedForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	quota := about.name(parts[1])
	if quota == "" {
		return ""
	}
	var resources []string
	for part := range strings.SplitSeq(parts[2], ";") {
		part, _, _ = strings.Cut(part, " for: ")
		resources = append(resources, strings.Split(part, ",")...)
	}
	result := "quota " + quota + " of the namespace refuses containers that do not say what they need"
	if list := about.all(resourceForm, resources); len(list) > 0 {
		result += " (" + strings.Join(list, ", ") + ")"
	}
	return result
}

var uncountedForm = regexp.MustCompile(`status unknown for quota: ([^,\s]+)`)

func tellUncounted(said string, about *request) string {
	parts := uncountedForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	if quota := about.name(parts[1]); quota != "" {
		return "quota " + quota + " of the namespace is not counted yet"
	}
	return ""
}

var (
	amount    = `[0-9]+(?:\.[0-9]+)?[a-zA-Z]{0,2}`
	kindOf    = `(?:Container|Pod|PersistentVolumeClaim|openshift\.io/[A-Za-z]+)`
	limitForm = regexp.MustCompile(`(?:maximum|minimum) [a-z0-9./-]{1,60} usage per ` + kindOf + ` is ` + amount + `(?:, but (?:limit|request) is ` + amount + `|\. No (?:limit|request) is specified)`)
	ratioForm = regexp.MustCompile(`[a-z0-9./-]{1,60} max limit to request ratio per ` + kindOf + ` is ` + amount + `, but (?:no (?:limit|request) is specified|provided ratio is ` + amount + `)`)
)

// tellLimits repeats the limits: these sentences hold only resources and amounts.
func tellLimits(said string, about *request) string {
	var limits []string
	for _, found := range append(limitForm.FindAllString(said, maxParts), ratioForm.FindAllString(said, maxParts)...) {
		if !slices.Contains(limits, found) && len(limits) < maxParts {
			limits = append(limits, found)
		}
	}
	if len(limits) == 0 {
		return ""
	}
	return "a LimitRange of the namespace refuses it: " + strings.Join(limits, "; ")
}

var podSecurityForm = regexp.MustCompile(`(?s)violates PodSecurity "(privileged|baseline|restricted):(latest|v[0-9]+\.[0-9]+)": (.*)`)

// podSecurityChecks are the checks of the Pod Security levels, as API servers name them.
var podSecurityChecks = []string{
	"privileged", "host namespaces", "hostPort", "hostPath volumes", "hostProcess", "host probes or lifecycle hooks",
	"allowPrivilegeEscalation != false", "unrestricted capabilities", "non-default capabilities", "restricted volume types",
	"runAsNonRoot != true", "runAsUser=0", "seccompProfile", "seLinuxOptions", "procMount", "forbidden sysctls", "forbidden AppArmor profile",
}

func tellPodSecurity(said string, _ *request) string {
	parts := podSecurityForm.FindStringSubmatch(said)
	if parts == nil {
		return ""
	}
	result := fmt.Sprintf("the Pod Security level %s (%s) of the namespace refuses it", parts[1], parts[2])
	var failed []string
	// The text in parentheses after each check is about the request.
	for _, check := range podSecurityChecks {
		if strings.HasPrefix(parts[3], check) || strings.Contains(parts[3], "), "+check) {
			failed = append(failed, check)
		}
	}
	if len(failed) > 0 {
		result += ": " + strings.Join(failed, ", ")
	}
	return result
}

var permissionForm = regexp.MustCompile(`cannot (create|get|list|watch|patch|update|delete|deletecollection) resource "([^"]*)" in API group`)

// tellPermission names the permission, which need not be that of the request: applying a new object
// needs two.
func tellPermission(said string, about *request) string {
	parts := permissionForm.FindStringSubmatch(said)
	if parts == nil || parts[2] != about.resource {
		return ""
	}
	return "the credentials lack this permission: " + parts[1] + " " + about.resource
}
