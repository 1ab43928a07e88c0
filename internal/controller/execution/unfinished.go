package execution

import "go.landscaper.dev/api/v1alpha1"

// unfinishedItems returns the items that have not ended the running job.
func unfinishedItems(s snapshot) []*v1alpha1.DeployItem {
	var items []*v1alpha1.DeployItem
	for _, item := range concerned(s) {
		if item.Status.JobIDFinished != s.exec.Status.JobID {
			items = append(items, item)
		}
	}
	return items
}
