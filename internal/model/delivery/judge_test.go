package delivery_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // as the programs have it

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// policyOf is a policy with a specification.
func policyOf(t *testing.T, name, spec string) *deliveryv1alpha1.DeliveryPolicy {
	t.Helper()
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "n"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &policy.Spec); err != nil {
		t.Fatal(err)
	}
	return policy
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// rootOf is a root with labels and annotations.
func rootOf(changes ...func(*v1alpha1.Installation)) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n", Labels: map[string]string{"tier": "prod"}}}
	for _, change := range changes {
		change(inst)
	}
	return inst
}

func annotated(key, value string) func(*v1alpha1.Installation) {
	return func(inst *v1alpha1.Installation) { inst.Annotations = map[string]string{key: value} }
}

// TestJudge: whether a job may begin, why not, and until when. Until is "-" if it is not known.
func TestJudge(t *testing.T) {
	const request, schedule = v1alpha1.TriggeredByReconcile, v1alpha1.TriggeredBySchedule
	for _, test := range []struct {
		reason  string
		specs   []string
		trigger v1alpha1.JobTrigger
		now     string
		want    reasons.Reason
		until   string
	}{
		{"no policy permits everything", nil, request, "2026-06-01T12:00:00Z", "", ""},
		{"a policy that says nothing permits everything", []string{"{}"}, request, "2026-06-01T12:00:00Z", "", ""},
		{"in a window", []string{"{windows: [{start: '22:00', duration: 2h}]}"}, request, "2026-06-01T23:00:00Z", "", ""},
		{"a window begins with its first moment", []string{"{windows: [{start: '22:00', duration: 2h}]}"}, request, "2026-06-01T22:00:00Z", "", ""},
		{"a window ends before its last moment", []string{"{windows: [{start: '22:00', duration: 2h}]}"}, request, "2026-06-02T00:00:00Z", reasons.OutsideWindow, "2026-06-02T22:00:00Z"},
		{"before a window of the day", []string{"{windows: [{start: '22:00', duration: 2h}]}"}, request, "2026-06-01T12:00:00Z", reasons.OutsideWindow, "2026-06-01T22:00:00Z"},
		{"over midnight, the day of the beginning counts", []string{"{windows: [{days: [Monday], start: '22:00', duration: 8h}]}"}, request, "2026-06-02T05:59:59Z", "", ""},
		{"over midnight, other days have no window", []string{"{windows: [{days: [Monday], start: '22:00', duration: 8h}]}"}, request, "2026-06-03T05:00:00Z", reasons.OutsideWindow, "2026-06-08T22:00:00Z"},
		{"over the end of the week", []string{"{windows: [{days: [Saturday], start: '20:00', duration: 36h}]}"}, request, "2026-06-08T07:00:00Z", "", ""},
		{"a window of a week is always open", []string{"{windows: [{days: [Wednesday], start: '00:00', duration: 168h}]}"}, request, "2026-06-02T23:59:59Z", "", ""},
		{"the time zone of the policy counts", []string{"{timeZone: Asia/Kolkata, windows: [{start: '22:00', duration: 1h}]}"}, request, "2026-06-01T16:30:00Z", "", ""},
		{"the day of the zone counts, not that of UTC", []string{"{timeZone: Pacific/Auckland, windows: [{days: [Tuesday], start: '06:00', duration: 1h}]}"}, request, "2026-06-01T18:30:00Z", "", ""},

		{"the clock is set forward during a window: it lasts as long as it says", []string{"{timeZone: Europe/Berlin, windows: [{start: '01:00', duration: 2h}]}"}, request, "2026-03-29T01:59:59Z", "", ""},
		{"the clock is set forward during a window: and no longer", []string{"{timeZone: Europe/Berlin, windows: [{start: '01:00', duration: 2h}]}"}, request, "2026-03-29T02:00:00Z", reasons.OutsideWindow, "2026-03-29T23:00:00Z"},
		{"a beginning that the clock leaves out is the change of the clock", []string{"{timeZone: Europe/Berlin, windows: [{start: '02:30', duration: 1h}]}"}, request, "2026-03-29T00:59:59Z", reasons.OutsideWindow, "2026-03-29T01:00:00Z"},
		{"a beginning that the clock leaves out, in the other hemisphere", []string{"{timeZone: America/Santiago, windows: [{start: '00:15', duration: 1h}]}"}, request, "2026-09-06T03:30:00Z", reasons.OutsideWindow, "2026-09-06T04:00:00Z"},
		{"of a beginning that comes twice, the first counts", []string{"{timeZone: Europe/Berlin, windows: [{start: '02:30', duration: 30m}]}"}, request, "2026-10-25T00:00:00Z", reasons.OutsideWindow, "2026-10-25T00:30:00Z"},
		{"of a beginning that comes twice, the second opens nothing", []string{"{timeZone: Europe/Berlin, windows: [{start: '02:30', duration: 30m}]}"}, request, "2026-10-25T01:30:00Z", reasons.OutsideWindow, "2026-10-26T01:30:00Z"},
		{"the clock is set back during a window: it lasts as long as it says", []string{"{timeZone: Europe/Berlin, windows: [{start: '01:00', duration: 2h}]}"}, request, "2026-10-25T01:00:00Z", reasons.OutsideWindow, "2026-10-26T00:00:00Z"},
		{"a change of half an hour", []string{"{timeZone: Australia/Lord_Howe, windows: [{start: '02:15', duration: 1h}]}"}, request, "2026-10-03T15:29:00Z", reasons.OutsideWindow, "2026-10-03T15:30:00Z"},
		{"a day that a zone has left out", []string{"{timeZone: Pacific/Apia, windows: [{days: [Friday], start: '12:00', duration: 1h}]}"}, request, "2011-12-30T09:00:00Z", reasons.OutsideWindow, "2011-12-30T10:00:00Z"},

		{"a leap day has its windows", []string{"{windows: [{days: [Tuesday], start: '10:00', duration: 1h}]}"}, request, "2028-02-29T10:30:00Z", "", ""},
		{"over a leap day", []string{"{windows: [{days: [Monday], start: '23:00', duration: 30h}]}"}, request, "2028-03-01T04:59:00Z", "", ""},
		{"a freeze over a leap day", []string{"{freezes: [{from: '2028-02-28T00:00:00Z', to: '2028-03-01T00:00:00Z'}]}"}, request, "2028-02-29T23:59:59Z", reasons.Frozen, "2028-03-01T00:00:00Z"},

		{"a dated window", []string{"{windows: [{from: '2026-06-01T10:00:00Z', to: '2026-06-01T12:00:00Z'}]}"}, request, "2026-06-01T11:00:00Z", "", ""},
		{"before a dated window", []string{"{windows: [{from: '2026-06-01T10:00:00Z', to: '2026-06-01T12:00:00Z'}]}"}, request, "2026-05-01T11:00:00Z", reasons.OutsideWindow, "2026-06-01T10:00:00Z"},
		{"a dated window in the past opens nothing more", []string{"{windows: [{from: '2026-06-01T10:00:00Z', to: '2026-06-01T12:00:00Z'}]}"}, request, "2026-07-01T11:00:00Z", reasons.OutsideWindow, "-"},
		{"one of several windows is open", []string{"{windows: [{from: '2026-06-01T10:00:00Z', to: '2026-06-01T12:00:00Z'}, {start: '11:00', duration: 1h}]}"}, request, "2026-07-01T11:00:00Z", "", ""},

		{"a freeze", []string{"{freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00+01:00', reason: holidays}]}"}, request, "2026-12-24T12:00:00Z", reasons.Frozen, "2027-01-03T23:00:00Z"},
		{"a freeze in the past", []string{"{freezes: [{from: '2025-12-20T00:00:00Z', to: '2026-01-04T00:00:00Z'}]}"}, request, "2026-12-24T12:00:00Z", "", ""},
		{"a freeze ends at its end", []string{"{freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00Z'}]}"}, request, "2027-01-04T00:00:00Z", "", ""},
		{"a freeze wins over a window, and the next window follows", []string{"{windows: [{start: '22:00', duration: 2h}], freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00Z'}]}"}, request, "2026-12-24T23:00:00Z", reasons.Frozen, "2027-01-04T22:00:00Z"},
		{"freezes that overlap last until the end of the last one", []string{"{freezes: [{from: '2026-12-20T00:00:00Z', to: '2026-12-26T00:00:00Z'}, {from: '2026-12-25T00:00:00Z', to: '2027-01-01T00:00:00Z'}]}"}, request, "2026-12-24T23:00:00Z", reasons.Frozen, "2027-01-01T00:00:00Z"},

		{"a window for automatic jobs does not concern a request", []string{"{windows: [{start: '22:00', duration: 2h, appliesTo: Automatic}]}"}, request, "2026-06-01T12:00:00Z", "", ""},
		{"a window for automatic jobs", []string{"{windows: [{start: '22:00', duration: 2h, appliesTo: Automatic}]}"}, schedule, "2026-06-01T12:00:00Z", reasons.OutsideWindow, "2026-06-01T22:00:00Z"},
		{"an automatic job may use a window for all", []string{"{windows: [{start: '22:00', duration: 2h, appliesTo: Automatic}, {start: '11:00', duration: 2h}]}"}, schedule, "2026-06-01T12:00:00Z", "", ""},
		{"a requested job may not use a window for automatic ones", []string{"{windows: [{start: '22:00', duration: 2h, appliesTo: Automatic}, {start: '11:00', duration: 2h}]}"}, request, "2026-06-01T23:00:00Z", reasons.OutsideWindow, "2026-06-02T11:00:00Z"},
		{"a freeze of automatic jobs does not concern a deletion", []string{"{freezes: [{from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z', appliesTo: Automatic}]}"}, v1alpha1.TriggeredByDeletion, "2026-06-01T12:00:00Z", "", ""},
		{"a freeze of all jobs concerns a deletion", []string{"{freezes: [{from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z'}]}"}, v1alpha1.TriggeredByDeletion, "2026-06-01T12:00:00Z", reasons.Frozen, "2027-01-01T00:00:00Z"},

		{"a pause has no known end", []string{"{paused: {reason: incident 7}}"}, request, "2026-06-01T12:00:00Z", reasons.Paused, "-"},
		{"all policies have to permit a job", []string{"{}", "{windows: [{start: '22:00', duration: 2h}]}"}, request, "2026-06-01T12:00:00Z", reasons.OutsideWindow, "2026-06-01T22:00:00Z"},
		{"windows of two policies meet at some time", []string{"{windows: [{start: '22:00', duration: 4h}]}", "{windows: [{days: [Thursday], start: '00:00', duration: 1h}]}"}, request, "2026-06-01T12:00:00Z", reasons.OutsideWindow, "2026-06-04T00:00:00Z"},
		{"windows of two policies never meet", []string{"{windows: [{days: [Monday], start: '22:00', duration: 1h}]}", "{windows: [{days: [Thursday], start: '00:00', duration: 1h}]}"}, request, "2026-06-01T12:00:00Z", reasons.OutsideWindow, "-"},
		{"a pause counts more than a freeze", []string{"{freezes: [{from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z'}]}", "{paused: {}}"}, request, "2026-06-01T12:00:00Z", reasons.Paused, "-"},

		{"a policy is about what its selector selects", []string{"{selector: {matchLabels: {tier: test}}, paused: {}}"}, request, "2026-06-01T12:00:00Z", "", ""},
		{"labels are compared", []string{"{selector: {matchLabels: {tier: prod}}, paused: {}}"}, request, "2026-06-01T12:00:00Z", reasons.Paused, "-"},
		{"an empty selector selects all", []string{"{selector: {}, paused: {}}"}, request, "2026-06-01T12:00:00Z", reasons.Paused, "-"},
		{"the default Context has its name", []string{"{contexts: [default], paused: {}}"}, request, "2026-06-01T12:00:00Z", reasons.Paused, "-"},
		{"another Context", []string{"{contexts: [mine], paused: {}}"}, request, "2026-06-01T12:00:00Z", "", ""},
		{"an Installation by its name", []string{"{installations: [x], paused: {}}"}, request, "2026-06-01T12:00:00Z", reasons.Paused, "-"},
		{"all selectors have to select", []string{"{installations: [x], contexts: [mine], paused: {}}"}, request, "2026-06-01T12:00:00Z", "", ""},

		{"an unknown time zone lets no job begin", []string{"{timeZone: Mars/Phobos}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"the zone of the server is not that of the user", []string{"{timeZone: Local}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"no window has no length", []string{"{windows: [{start: '22:00', duration: 0s}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"no window is longer than a week", []string{"{windows: [{start: '22:00', duration: 168h1s}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"a time that does not exist", []string{"{windows: [{start: '24:00', duration: 1h}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"a day that does not exist", []string{"{windows: [{days: [Fryday], start: '22:00', duration: 1h}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"both forms of a window", []string{"{windows: [{start: '22:00', duration: 1h, from: '2026-06-01T10:00:00Z', to: '2026-06-01T12:00:00Z'}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"a window that ends before it begins", []string{"{windows: [{from: '2026-06-01T10:00:00Z', to: '2026-06-01T10:00:00Z'}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"a freeze that ends before it begins", []string{"{freezes: [{from: '2026-06-01T10:00:00Z', to: '2026-05-01T10:00:00Z'}]}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
		{"a selector that cannot be read selects all", []string{"{selector: {matchExpressions: [{key: a, operator: Near}]}}"}, request, "2026-06-01T12:00:00Z", reasons.InvalidPolicy, "-"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var policies []*deliveryv1alpha1.DeliveryPolicy
			for i, spec := range test.specs {
				policies = append(policies, policyOf(t, string(rune('a'+i)), spec))
			}
			now := at(t, test.now)
			got := delivery.Judge(policies, rootOf(), test.trigger, now)
			until := ""
			switch {
			case got.Permitted():
			case got.Until.IsZero():
				until = "-"
			default:
				until = got.Until.UTC().Format(time.RFC3339)
			}
			if got.Reason != test.want || until != test.until {
				t.Fatalf("%q until %q: %s", got.Reason, until, got)
			}
			if !got.Until.IsZero() {
				if then := delivery.Judge(policies, rootOf(), test.trigger, got.Until); !then.Permitted() {
					t.Errorf("at that time: %s", then)
				}
				if before := delivery.Judge(policies, rootOf(), test.trigger, got.Until.Add(-time.Nanosecond)); before.Permitted() {
					t.Error("it could begin before")
				}
			}
			if wake := got.Wake(now); !got.Permitted() && (len(wake.Events()) == 0 || wake.Deadline().After(now.Add(delivery.Recheck))) {
				t.Errorf("it waits for %s", wake)
			}
		})
	}
}

// TestClockJumps: a clock that is set has no memory. What counts is the time that it shows.
func TestClockJumps(t *testing.T) {
	policies := []*deliveryv1alpha1.DeliveryPolicy{policyOf(t, "a", "{windows: [{start: '22:00', duration: 2h}]}")}
	for _, step := range []struct {
		now       string
		permitted bool
	}{{"2026-06-01T21:59:59Z", false}, {"2026-06-01T22:30:00Z", true}, {"2026-06-01T20:00:00Z", false}, {"2030-01-01T23:00:00Z", true}, {"1970-01-01T00:00:00Z", false}, {"0001-01-01T00:00:00Z", false}} {
		if got := delivery.Judge(policies, rootOf(), v1alpha1.TriggeredByReconcile, at(t, step.now)); got.Permitted() != step.permitted {
			t.Errorf("at %s: %s", step.now, got)
		}
	}
}

// TestOverride: an override leaves one policy out, by its name, and no pause.
func TestOverride(t *testing.T) {
	const now = "2026-12-24T12:00:00Z"
	frozen, paused := "{freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00Z'}]}", "{paused: {}}"
	for _, test := range []struct {
		reason, override string
		specs            []string
		want             reasons.Reason
		overridden       string
	}{
		{"another policy is not overridden", "b", []string{frozen}, reasons.Frozen, ""},
		{"the policy is overridden", "a", []string{frozen}, "", "a"},
		{"a policy that permits the job needs no override", "a", []string{"{}"}, "", ""},
		{"another policy still counts", "a", []string{frozen, frozen}, reasons.Frozen, ""},
		{"a pause is not overridden", "a", []string{paused}, reasons.Paused, ""},
		{"a policy that is not valid can be overridden", "a", []string{"{timeZone: Mars/Phobos}"}, "", "a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var policies []*deliveryv1alpha1.DeliveryPolicy
			for i, spec := range test.specs {
				policies = append(policies, policyOf(t, string(rune('a'+i)), spec))
			}
			got := delivery.Judge(policies, rootOf(annotated(deliveryv1alpha1.OverrideAnnotation, test.override)), v1alpha1.TriggeredByReconcile, at(t, now))
			if got.Reason != test.want || got.Overridden != test.overridden {
				t.Errorf("%q, overridden %q: %s", got.Reason, got.Overridden, got)
			}
		})
	}
}

// TestIsAutomatic: what counts as begun by a person.
func TestIsAutomatic(t *testing.T) {
	for _, test := range []struct {
		reason  string
		inst    *v1alpha1.Installation
		trigger v1alpha1.JobTrigger
		want    bool
	}{
		{"a request", rootOf(), v1alpha1.TriggeredByReconcile, false},
		{"a request at once", rootOf(), v1alpha1.TriggeredByForceReconcile, false},
		{"a deletion", rootOf(), v1alpha1.TriggeredByDeletion, false},
		{"a schedule", rootOf(), v1alpha1.TriggeredBySchedule, true},
		{"a changed specification", rootOf(), v1alpha1.TriggeredByChange, true},
		{"changed imports", rootOf(), v1alpha1.TriggeredByImports, true},
		{"changed exports of an item", rootOf(), v1alpha1.TriggeredByExports, true},
		{"other exports of a root", rootOf(), v1alpha1.TriggeredByExporter, true},
		{"a retry of upstream", rootOf(annotated(v1alpha1.ReconcileReasonAnnotation, v1alpha1.ReconcileReasonRetry)), v1alpha1.TriggeredByReconcile, true},
	} {
		if got := delivery.IsAutomatic(test.inst, test.trigger); got != test.want {
			t.Errorf("%s: %t", test.reason, got)
		}
	}
}

// TestSubinstallation: what belongs to another Installation follows its root.
func TestSubinstallation(t *testing.T) {
	owner := true
	sub := rootOf(func(inst *v1alpha1.Installation) {
		inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "root", UID: "u", Controller: &owner}}
	})
	if delivery.Read(policyOf(t, "a", "{paused: {}}")).Selects(sub) {
		t.Error("it is selected")
	}
}

// TestSaid: the message names the policies, the reason and the time, in UTC.
func TestSaid(t *testing.T) {
	policies := []*deliveryv1alpha1.DeliveryPolicy{
		policyOf(t, "year-end", "{freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00+01:00', reason: holidays}]}"),
		policyOf(t, "nights", "{windows: [{start: '22:00', duration: 2h}]}"),
	}
	got := delivery.Judge(policies, rootOf(), v1alpha1.TriggeredByReconcile, at(t, "2026-12-24T12:00:00Z"))
	if want := "deferred by DeliveryPolicy year-end: frozen (holidays); also by nights; it may begin at 2027-01-03T23:00:00Z"; got.String() != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !slices.Equal(got.Policies, []string{"nights", "year-end"}) {
		t.Errorf("%v", got.Policies)
	}
	if name, message := delivery.PausedBy([]*deliveryv1alpha1.DeliveryPolicy{policyOf(t, "b", "{paused: {}}"), policyOf(t, "a", "{paused: {reason: incident 7}}"), policies[0]}, rootOf()); name != "a" || !strings.Contains(message, "incident 7") {
		t.Errorf("%s, %s", name, message)
	}
}

// TestStateAt: what the status of a policy says, and when that changes.
func TestStateAt(t *testing.T) {
	for _, test := range []struct {
		reason, spec, now string
		want              reasons.Reason
		next              string
	}{
		{"nothing is refused", "{}", "2026-06-01T12:00:00Z", "", ""},
		{"a window is open until its end", "{windows: [{start: '22:00', duration: 2h}]}", "2026-06-01T23:00:00Z", "", "2026-06-02T00:00:00Z"},
		{"the next window", "{windows: [{start: '22:00', duration: 2h}]}", "2026-06-01T12:00:00Z", reasons.OutsideWindow, "2026-06-01T22:00:00Z"},
		{"windows that follow each other are one", "{windows: [{start: '22:00', duration: 1h}, {start: '23:00', duration: 1h}]}", "2026-06-01T22:30:00Z", "", "2026-06-02T00:00:00Z"},
		{"a freeze that comes", "{freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00Z'}]}", "2026-06-01T12:00:00Z", "", "2026-12-20T00:00:00Z"},
		{"a freeze of automatic jobs is not open for every job", "{freezes: [{from: '2026-12-20T00:00:00Z', to: '2027-01-04T00:00:00Z', appliesTo: Automatic}]}", "2026-12-24T12:00:00Z", reasons.Frozen, "2027-01-04T00:00:00Z"},
		{"a pause", "{paused: {}, windows: [{start: '22:00', duration: 2h}]}", "2026-06-01T12:00:00Z", reasons.Paused, ""},
		{"always open, as often as a window begins", "{windows: [{start: '00:00', duration: 24h}]}", "2026-06-01T12:00:00Z", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, next := delivery.Read(policyOf(t, "a", test.spec)).StateAt(at(t, test.now)), ""
			if !got.NextChange.IsZero() {
				next = got.NextChange.UTC().Format(time.RFC3339)
			}
			if got.Reason != test.want || next != test.next {
				t.Errorf("%q until %q: %s", got.Reason, next, got.Message)
			}
		})
	}
}
