"""The contents of small files in the formats of the literature."""

LETOR = "2 qid:10 1:0.5 3:1 #docid = x\n\n0 qid:10 2:0.25\n1 qid:11 1:1\n"
RUNS = """@relation runs
@attribute instance_id string
@attribute repetition numeric
@attribute algorithm string
@attribute runtime numeric
@attribute runstatus {ok, timeout}
@data
i1,1,fast,3,ok
i1,1,slow,50,ok
i2,1,fast,100,timeout
i2,1,slow,7,ok
i3,1,fast,100,timeout
i3,1,slow,99,timeout
i1,2,fast,5,ok
"""
FEATURES = """@relation f
@attribute instance_id string
@attribute repetition numeric
@attribute size numeric
@data
i3,1,?
i1,1,1.5
i2,1,2
"""
FOLDS = """@relation cv
@attribute instance_id string
@attribute repetition numeric
@attribute fold numeric
@data
i1,1,2
i2,1,1
i3,1,1
"""
DESCRIPTION = """scenario_id: toy
performance_measures:
    - runtime
maximize:
    - false
performance_type: [runtime]
algorithm_cutoff_time: 100
"""
SCENARIO = {
    "description.txt": DESCRIPTION,
    "algorithm_runs.arff": RUNS,
    "feature_values.arff": FEATURES,
    "cv.arff": FOLDS,
}
