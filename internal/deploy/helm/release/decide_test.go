package release

import (
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
)

func TestDecide(t *testing.T) {
	tests := []struct {
		reason    string
		situation Situation
		want      Action
	}{
		{"no release exists", Situation{}, Install},
		{"a release that was removed with its history kept is installed", Situation{Last: common.StatusUninstalled, Deployed: true}, Install},
		{"nothing has changed", Situation{Last: common.StatusDeployed, Deployed: true, Ours: true, Same: true}, Nothing},
		{"nothing has changed, but a deployment is requested", Situation{Last: common.StatusDeployed, Deployed: true, Ours: true, Same: true, Asked: true}, Upgrade},
		{"something has changed", Situation{Last: common.StatusDeployed, Deployed: true, Ours: true}, Upgrade},
		{"a release of upstream or a person is upgraded", Situation{Last: common.StatusDeployed, Deployed: true}, Upgrade},
		{"the last attempt has failed", Situation{Last: common.StatusFailed, Deployed: true, Ours: true, Same: true}, Upgrade},
		{"the first attempt has failed: hooks of the installation did not all run", Situation{Last: common.StatusFailed, Ours: true, Same: true}, Install},
		{"our server ended during the installation", Situation{Last: common.StatusPendingInstall, Ours: true, Same: true}, Install},
		{"our server ended during an upgrade", Situation{Last: common.StatusPendingUpgrade, Deployed: true, Ours: true, Same: true}, Upgrade},
		{"our server ended while it rolled back", Situation{Last: common.StatusPendingRollback, Deployed: true, Ours: true}, Upgrade},
		{"another client is changing the release", Situation{Last: common.StatusPendingUpgrade, Deployed: true, Age: time.Minute}, Await},
		{"another client is removing the release", Situation{Last: common.StatusUninstalling, Deployed: true, Age: time.Minute}, Await},
		{"upstream was killed some time ago in an upgrade", Situation{Last: common.StatusPendingUpgrade, Deployed: true, Age: time.Hour}, Upgrade},
		{"upstream was killed some time ago during the installation", Situation{Last: common.StatusPendingInstall, Age: time.Hour}, Install},
		{"another item has the release, and this item never had it", Situation{Last: common.StatusDeployed, Deployed: true, Others: true}, Upgrade},
		{"another item has taken the release over", Situation{Last: common.StatusDeployed, Deployed: true, Others: true, Known: true}, Refuse},
		{"another item has taken the release over and is being deleted", Situation{Last: common.StatusDeployed, Deployed: true, Others: true, Known: true, OwnerTerminating: true}, Upgrade},
		{"another item changes the release and is being deleted", Situation{Last: common.StatusPendingUpgrade, Deployed: true, Others: true, Known: true, OwnerTerminating: true}, Await},
		{"another item changes the release, and this item had it", Situation{Last: common.StatusPendingUpgrade, Deployed: true, Others: true, Known: true}, Refuse},
		{"another item changes the release, and this item never had it", Situation{Last: common.StatusPendingUpgrade, Deployed: true, Others: true}, Await},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Decide(test.situation); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
