package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/managed"
)

func TestParting(t *testing.T) {
	alive := &gardener.Shoot{}
	going := &gardener.Shoot{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}}}
	forced := &gardener.Shoot{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{gardener.ForceDeletionAnnotation: "true"}}}
	for _, test := range []struct {
		name        string
		policy      config.DeletionPolicy
		shoot       *gardener.Shoot
		since       time.Duration
		keep, force bool
		reason      string
	}{
		{"orphan", config.Orphan, alive, 0, true, false, "everything stays in the shoot"},
		{"delete", config.Delete, alive, 0, false, false, "everything goes"},
		{"delete for long", config.Delete, alive, time.Hour, false, false, "a live shoot must not be left half cleaned up"},
		{"shoot goes", config.Delete, going, time.Minute, false, false, "what runs outside of the shoot may have to be removed"},
		{"shoot goes for long", config.Delete, going, 3 * time.Minute, true, false, "it goes with all that is in it"},
		{"forced", config.Delete, forced, 0, true, true, "the shoot may not answer any more"},
		{"no shoot", config.Delete, nil, 0, true, false, "there is nothing to clean up"},
		{"unknown policy", "", alive, 0, true, false, "what was never asked for is not deleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := parting(test.policy, test.shoot, test.since)
			if got.keep != test.keep || got.force != test.force {
				t.Errorf("%+v: %s", got, test.reason)
			}
			if !slices.Equal(got.order, []string{ConfigName, DataName, InstallName}) {
				t.Errorf("order %v: Flux has to run until its objects are deleted", got.order)
			}
		})
	}
}

func TestHealthOf(t *testing.T) {
	ill := managed.Standing{Exists: true, Applied: true, Reason: "DeploymentUnhealthy", Message: "no pods"}
	secret := managed.Standing{Exists: true, Reason: "ApplyFailed", Message: "hunter2"}
	pending := managed.Standing{Exists: true, Unseen: true, Reason: "Pending"}
	for _, test := range []struct {
		name         string
		install      managed.Standing
		data         managed.Standing
		bootstrapped bool
		want         gardener.ConditionStatus
		reason       string
	}{
		{"all well", healthy, healthy, true, gardener.ConditionTrue, "nothing is wrong"},
		{"ill", ill, healthy, true, gardener.ConditionFalse, "Flux does not run"},
		{"comes up", ill, missing, false, gardener.ConditionProgressing, "it takes its time"},
		{"left alone", frozen, healthy, true, gardener.ConditionTrue, "it belongs to the owner of the shoot"},
		{"of others", missing, healthy, true, gardener.ConditionTrue, "we have not installed it"},
		{"changed", healthy, pending, true, gardener.ConditionProgressing, "the resource manager has just begun"},
		{"secrets", healthy, secret, true, gardener.ConditionFalse, "they are not in the shoot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := healthOf([]piece{{InstallName, test.install}, {DataName, test.data}}, test.bootstrapped)
			if got.Status != test.want {
				t.Errorf("%+v: %s", got, test.reason)
			}
			if slices.Contains([]string{got.Message, got.Reason}, "hunter2") {
				t.Error("the message of a Secret is passed on")
			}
		})
	}
}

func TestCodes(t *testing.T) {
	_, ofShoot := config.FromProviderConfig([]byte(`{"kind": "Other"}`), nil)
	_, ofProject := config.FromConfigMap(&corev1.ConfigMap{Data: map[string]string{"prune": "perhaps"}})
	for _, test := range []struct {
		err    error
		want   []gardener.ErrorCode
		reason string
	}{
		{errors.New("x"), nil, "it may pass"},
		{fmt.Errorf("a: %w", ofShoot), []gardener.ErrorCode{gardener.ConfigurationProblem}, "the Shoot has to change, and only then it is tried again"},
		{fmt.Errorf("a: %w", ofProject), []gardener.ErrorCode{gardener.RetryableConfigurationProblem}, "the Shoot does not change when its project is mended"},
		{config.ErrNotConfigured, []gardener.ErrorCode{gardener.RetryableConfigurationProblem}, "a ConfigMap of the project helps, and the Shoot does not change"},
		{fmt.Errorf("a: %w", install.ErrVersion), []gardener.ErrorCode{gardener.RetryableConfigurationProblem}, "the operator may offer the release later"},
		{fmt.Errorf("a: %w", withCode(errors.New("x"), gardener.CleanupProblem)), []gardener.ErrorCode{gardener.CleanupProblem}, "it was said"},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			if got := codes(test.err); !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v: %s", got, test.want, test.reason)
			}
		})
	}
}
