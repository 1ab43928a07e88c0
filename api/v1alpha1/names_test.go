package v1alpha1

import "testing"

func TestGenerateDataObjectName(t *testing.T) {
	tests := []struct {
		reason, scope, name, want string
	}{
		{"names inside an Installation are hashed with their scope", "Inst.shop", "db-endpoint", "ph24zq6ksggutcs5p2wtirvjhnpxw543"},
		{"a root name that no object can have is hashed", "", "Db_Endpoint", "qxzus3l2ftwg5h4gdstwbjdvwzitqajk"},
		{"the exports of an Execution have no name of their own", "Exec.shop", "", "ei5wjspizeqbpbixpd3rsbfqhljbnudf"},
		{"a slash is part of the name", "", "team-a/db", "3qrwipvdvxi7k3lxc5inla52ak6cm5fr"},
		{"a root name that an object can have stays", "", "db.endpoint-1", "db.endpoint-1"},
		{"one character is a name", "", "a", "a"},
		{"a direct reference is the real name in every scope", "Inst.shop", "#shared", "shared"},
		{"a direct reference is the real name at the root, too", "", "#shared", "shared"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := GenerateDataObjectName(test.scope, test.name); got != test.want {
				t.Errorf("GenerateDataObjectName(%q, %q) = %s, want %s", test.scope, test.name, got, test.want)
			}
		})
	}
	if got, want := GenerateDataObjectNameWithIndex("Inst.shop", "clusters", 0), "iztqtkdc7v6zflvz2cve4jynp2x7r64n"; got != want {
		t.Errorf("list element: got %s, want %s", got, want)
	}
	if got, want := GenerateDataObjectNameWithKey("Inst.shop", "clusters", "blue"), "xvczfuvjzg3i5mnutbp77wtgb2t4bbt3"; got != want {
		t.Errorf("map element: got %s, want %s", got, want)
	}
	if got, want := HashedDataObjectName("", "a"), GenerateDataObjectName("", "a"); got == want || len(got) != 32 {
		t.Errorf("old root name: got %s, want a hash of 32 characters", got)
	}
}
